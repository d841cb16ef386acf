import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import type { HistoryGap, Resume, ResumeFollowOptions, ResumeResult } from 'waku-light/resume'
import { CatchUp } from '../../examples/chat/catch-up.ts'
import { describeCatchUp } from '../../examples/chat/words.ts'

const NOON = BigInt(Date.UTC(2024, 5, 3, 12)) * 1_000_000n
const HOUR = 3_600_000_000_000n
const COUNTS = { fetched: 0, added: 0, bytes: 0, missing: 0 }
const FAILED: ResumeResult = {
  status: 'failed',
  error: new ConnectionError('it broke'),
  ...COUNTS
}

type Progress = Parameters<NonNullable<ResumeFollowOptions['onProgress']>>[0]

/** Catching up over a resume that does what the test says. */
function catchUpWith(results: ResumeResult[] = []) {
  const gaps: HistoryGap[] = []
  const lines: string[] = []
  let follows = 0
  let tell: ((event: Progress) => void) | undefined
  const resume = {
    gaps: () => Promise.resolve([...gaps]),
    fillGap: () => {
      const result = results.shift() ?? toDone(NOON)
      if (result.status === 'done') {
        gaps.shift()
      }
      return Promise.resolve(result)
    },
    follow: ({ signal, onProgress }: ResumeFollowOptions) => {
      follows++
      tell = onProgress
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
    }
  } as unknown as Resume
  const closing = new AbortController()
  const catchUp: CatchUp = new CatchUp(resume, closing.signal, () =>
    lines.push(describeCatchUp(catchUp.state))
  )
  const following = catchUp.follow()
  return {
    catchUp,
    gaps,
    lines,
    follows: () => follows,
    tell: (event: Progress) => tell?.(event),
    /** What was asked for is over. */
    settled: () => new Promise((resolve) => setImmediate(resolve)),
    close: async () => {
      closing.abort()
      await following
    }
  }
}

function toDone(to: bigint): ResumeResult {
  return {
    status: 'done',
    resumedFrom: to - HOUR,
    resumedTo: to,
    completeness: 'complete',
    clockSetBack: false,
    ...COUNTS
  }
}

function started(from: bigint, to: bigint, gap?: HistoryGap): Progress {
  return { type: 'resume:started', detail: { from, to, gap } }
}

function ended(detail: ResumeResult): Progress {
  return { type: 'resume:ended', detail }
}

describe('CatchUp of the example page', () => {
  it('counts what was said during the absence, and not what is said now', async () => {
    const { catchUp, lines, tell, settled, close } = catchUpWith()
    tell(started(NOON - HOUR, NOON))
    const late = [NOON - HOUR, NOON - 1n, NOON].map((time) => catchUp.note(time))
    expect(late).to.deep.equal([true, true, false])
    tell(ended(toDone(NOON)))
    await settled()
    expect(lines[0]).to.match(/^Catching up since /)
    expect(lines.at(-1)).to.match(/^Caught up: 2 messages since /)
    expect(catchUp.note(NOON - 1n)).to.equal(false)
    await close()
  })

  it('counts what came before it was known since when', async () => {
    const { catchUp, lines, tell, settled, close } = catchUpWith()
    expect(catchUp.note(NOON - 1n)).to.equal(true)
    expect(catchUp.note(NOON - 2n * HOUR)).to.equal(true)
    tell(started(NOON - HOUR, NOON))
    tell(ended(toDone(NOON)))
    await settled()
    expect(lines.at(-1)).to.match(/^Caught up: 1 message since /)
    await close()
  })

  it('tells of an outage only if something was said meanwhile', async () => {
    const { catchUp, lines, tell, settled, close } = catchUpWith()
    for (const end of [NOON, NOON + HOUR]) {
      tell(started(end - HOUR, end))
      tell(ended(toDone(end)))
      await settled()
    }
    expect(lines.filter((line) => line.startsWith('Nothing new since '))).to.have.lengthOf(1)
    tell(started(NOON + HOUR, NOON + 2n * HOUR))
    catchUp.note(NOON + HOUR + 1n)
    tell(ended(toDone(NOON + 2n * HOUR)))
    await settled()
    expect(lines.at(-1)).to.match(/^Caught up: 1 message since /)
    await close()
  })

  it('goes on counting over failures', async () => {
    const { catchUp, lines, tell, follows, settled, close } = catchUpWith()
    tell(started(NOON - HOUR, NOON))
    catchUp.note(NOON - 2n)
    tell(ended(FAILED))
    expect(lines.at(-1)).to.equal('Not caught up yet: the service node cannot be reached.')
    await catchUp.retry()
    await settled()
    expect(follows()).to.equal(2)
    expect(lines.at(-1)).to.match(/^Catching up since /)
    tell(started(NOON - HOUR, NOON + 1n))
    catchUp.note(NOON - 1n)
    tell(ended(toDone(NOON)))
    await settled()
    expect(lines.at(-1)).to.match(/^Caught up: 2 messages since /)
    await close()
  })

  it('shows a gap that cannot be filled, and fills it when it is asked to', async () => {
    const { catchUp, gaps, lines, tell, settled, close } = catchUpWith([FAILED])
    const gap = { from: NOON - 9n * HOUR, to: NOON - 6n * HOUR }
    gaps.push(gap)
    tell(started(gap.to, NOON, gap))
    tell(ended(toDone(NOON)))
    await settled()
    expect(lines.at(-2)).to.match(/^Fetching what was said between .* and .*…$/)
    expect(lines.at(-1)).to.match(/^What was said between .* and .* is missing: the service node/)
    expect(catchUp.state).to.deep.include({ state: 'failed', gap })
    const retried = catchUp.retry()
    catchUp.note(gap.from)
    await retried
    expect(catchUp.state).to.deep.equal({ state: 'done', since: gap.from, count: 1 })
    await close()
  })

  it('says why nothing can be read any more, and can be told to try again', async () => {
    const closing = new AbortController()
    let follows = 0
    const resume = {
      follow: () => Promise.reject(new ConnectionError(`broken ${++follows}`))
    } as unknown as Resume
    const catchUp = new CatchUp(resume, closing.signal, () => undefined)
    const following = catchUp.follow()
    await new Promise((resolve) => setImmediate(resolve))
    expect(catchUp.state).to.have.property('state', 'failed')
    await catchUp.retry()
    await new Promise((resolve) => setImmediate(resolve))
    expect(follows).to.equal(2)
    closing.abort()
    await following
  })
})
