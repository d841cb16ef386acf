import { expect } from 'chai'
import { ConnectionError, UnsupportedError } from 'waku-light/errors'
import { Backoff } from '../../src/sync/backoff.ts'

describe('Backoff', () => {
  /** For how long a peer is left alone after some errors, in milliseconds. */
  function pauseMs(...errors: readonly Error[]): number {
    let nowMs = 0
    const backoff = new Backoff({ now: () => nowMs, minBackoffMs: 10, maxBackoffMs: 45 })
    for (const error of errors) {
      backoff.failed('peer', error)
    }
    while (!backoff.allows('peer')) {
      nowMs++
    }
    return nowMs
  }

  it('doubles with each failure, up to the longest', () => {
    const error = new ConnectionError('gone')
    expect(pauseMs()).to.equal(0)
    expect(pauseMs(error)).to.equal(10)
    expect(pauseMs(error, error, error)).to.equal(40)
    expect(pauseMs(error, error, error, error)).to.equal(45)
  })

  it('leaves nobody alone for longer because a clock was set back', () => {
    let nowMs = 1_000
    const backoff = new Backoff({ now: () => nowMs, minBackoffMs: 10, maxBackoffMs: 45 })
    backoff.failed('peer', new ConnectionError('gone'))
    expect(backoff.allows('peer')).to.equal(false)
    nowMs = 0
    expect(backoff.allows('peer')).to.equal(true)
  })

  it('is the longest at once where a peer lacks the protocol', () => {
    expect(pauseMs(new UnsupportedError('no such thing'))).to.equal(45)
  })
})
