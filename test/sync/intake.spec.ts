import { expect } from 'chai'
import { toHex } from 'waku-light/message'
import { createMemoryArchive } from '../../src/archive/index.ts'
import { toSyncSettings } from '../../src/sync/init.ts'
import { Intake } from '../../src/sync/intake.ts'
import { makeMessages, NOW } from './fixtures.ts'

describe('Intake', () => {
  const window = { timeStart: NOW - 1_000n, timeEnd: NOW }

  function create(archive = createMemoryArchive()): Intake {
    const settings = toSyncSettings({ archive, locks: null })
    const holdings = { add: () => undefined }
    return new Intake({ settings, holdings, peerId: 'theirs', window, tell: () => undefined })
  }

  it('takes what is of its window, from the start to before the end', async () => {
    const judged: unknown[] = []
    for (const offset of [-1_001n, -1_000n, -1n, 0n]) {
      const archive = createMemoryArchive()
      const intake = create(archive)
      const [message] = makeMessages(1, { timestamp: NOW + offset })
      const { pubsubTopic, messageHash, ...rest } = message!
      const reason = intake.judge(pubsubTopic, rest, 1, 'transfer')
      const count = await intake.store('transfer')
      judged.push([reason, count, ...(await archive.has([messageHash]))])
    }
    const outside = ['outside', 0, false]
    const taken = [undefined, 1, true]
    expect(judged).to.deep.equal([outside, taken, taken, outside])
  })

  it('misses what is of its window and has not come', () => {
    const intake = create()
    const [come, awaited, ...others] = [-1n, -1_000n, -1_001n, 0n].flatMap((offset) =>
      makeMessages(1, { timestamp: NOW + offset })
    )
    const { pubsubTopic, messageHash: hash, ...rest } = come!
    intake.judge(pubsubTopic, rest, 1, 'transfer')
    const ids = [awaited!, ...others].map(({ timestamp = 0n, messageHash }) => ({
      timestamp,
      hash: messageHash
    }))
    intake.settle([{ timestamp: NOW - 1n, hash }, ...ids], true)
    expect(intake.missing.map(toHex)).to.deep.equal([toHex(awaited!.messageHash)])
  })
})
