import { expect } from 'chai'
import * as exported from 'waku-light/errors'
import {
  AddressError,
  ClosedError,
  ClusterMismatchError,
  ConnectionError,
  ERROR_CODES,
  type ErrorCode,
  hasErrorCode,
  IncompleteHistoryError,
  InvalidArgumentError,
  InvalidMessageError,
  isWakuLightError,
  LimitExceededError,
  MessageTooLargeError,
  NoUsablePeerError,
  ProtocolViolationError,
  RemoteStatusError,
  StorageError,
  StorageFullError,
  TimeoutError,
  UnsupportedError,
  WakuLightError
} from 'waku-light/errors'

/** One of each class, with its fields. */
const ERRORS: readonly [WakuLightError, string, Record<string, unknown>][] = [
  [new StorageError('lost', 'gone'), 'gone', { reason: 'lost' }],
  [new StorageFullError(), 'no room is left for the local database', {}],
  [new InvalidArgumentError('a.b', 'is wrong'), 'a.b is wrong', { parameter: 'a.b' }],
  [
    new MessageTooLargeError(3, 2),
    'message of 3 bytes exceeds the limit of 2 bytes',
    { sizeBytes: 3, limitBytes: 2 }
  ],
  [new InvalidMessageError('cut'), 'cut', {}],
  [
    new ProtocolViolationError('order', 'wrong order', 'p'),
    'wrong order',
    { detail: 'order', peerId: 'p' }
  ],
  [
    new RemoteStatusError({ statusCode: 429, statusDesc: 'slow', requestId: 'N/A', peerId: 'p' }),
    'service node answered 429: slow',
    { statusCode: 429, statusDesc: 'slow', requestId: 'N/A', peerId: 'p' }
  ],
  [new NoUsablePeerError([]), 'no service node is configured', {}],
  [new ConnectionError('broke'), 'broke', {}],
  [new AddressError('/ip4', 'is insecure'), '/ip4: is insecure', { address: '/ip4' }],
  [
    new ClusterMismatchError(1, 0, 'p'),
    'service node is of cluster 0, not of cluster 1',
    { clusterId: 1, remoteClusterId: 0, peerId: 'p' }
  ],
  [new UnsupportedError('no'), 'no', {}],
  [new LimitExceededError('many', 5), 'many', { limit: 5 }],
  [
    new TimeoutError('push', 5),
    'push did not finish within 5 ms',
    { operation: 'push', timeoutMs: 5 }
  ],
  [new ClosedError(), 'the light node is closed', {}],
  [
    new IncompleteHistoryError('pos', new Error('gone')),
    'history is incomplete: gone',
    { position: 'pos' }
  ]
]

/** An error as a second copy of the package makes it. */
function foreign(code: string): Error {
  return Object.defineProperty(
    Object.assign(new Error('copy'), { code }),
    Symbol.for('waku-light.error'),
    { value: true }
  )
}

/** What libp2p and the platform throw under the same names or codes. */
const STRANGERS: readonly unknown[] = [
  new Error('plain'),
  Object.assign(new Error('same code'), { code: 'ERR_TIMEOUT' }),
  Object.assign(new Error('same name'), { name: 'TimeoutError' }),
  Object.assign(new Error('both'), { name: 'WakuLightTimeoutError', code: 'ERR_TIMEOUT' }),
  Object.assign(new Error('same family'), {
    name: 'InvalidMessageError',
    code: 'ERR_INVALID_MESSAGE'
  }),
  new DOMException('platform', 'TimeoutError'),
  { code: 'ERR_TIMEOUT' },
  Object.defineProperty(new Error('another value'), Symbol.for('waku-light.error'), { value: 1 }),
  undefined,
  null,
  'ERR_TIMEOUT',
  5,
  Symbol.for('waku-light.error')
]

const CODES = Object.keys(ERROR_CODES) as ErrorCode[]

describe('ERROR_CODES', () => {
  it('has a code for each class, and a class for each code', () => {
    expect(ERRORS.map(([error]) => error.code).toSorted()).to.deep.equal(CODES.toSorted())
    const classes = Object.values(exported).filter(
      (value) => typeof value === 'function' && value.prototype instanceof WakuLightError
    )
    expect(new Set(ERRORS.map(([error]) => error.constructor))).to.deep.equal(new Set(classes))
  })

  it('says of each code what it means and what to do', () => {
    for (const [code, entry] of Object.entries(ERROR_CODES)) {
      expect(code).to.match(/^ERR_[A-Z_]+$/)
      expect(entry).to.have.all.keys('cause', 'retryHelps', 'whatToDo')
      expect(entry.cause.length * entry.whatToDo.length, code).to.be.greaterThan(0)
      expect(entry.retryHelps).to.be.a('boolean')
    }
  })
})

describe('WakuLightError', () => {
  for (const [error, message, fields] of ERRORS) {
    it(`${error.constructor.name} has its literal name, its message and its data`, () => {
      expect(error).to.be.instanceOf(Error)
      const name = error instanceof TimeoutError ? 'WakuLightTimeoutError' : error.constructor.name
      expect(error.name).to.equal(name)
      expect(error.message).to.equal(message)
      expect(String(error)).to.equal(`${name}: ${message}`)
      expect(error).to.deep.include(fields)
      expect(Object.getOwnPropertySymbols({ ...error })).to.deep.equal([])
    })
  }

  it('keeps its cause', () => {
    const cause = new Error('below')
    for (const error of [
      new InvalidMessageError('a', { cause }),
      new ConnectionError('a', { cause }),
      new UnsupportedError('a', { cause }),
      new IncompleteHistoryError('a', cause)
    ]) {
      expect(error.cause).to.equal(cause)
    }
  })

  it('has messages for data that is not there', () => {
    expect(new IncompleteHistoryError('a', 'text').message).to.equal(
      'history is incomplete: unknown cause'
    )
    expect(new ClusterMismatchError(1, undefined, 'p').message).to.contain('(not stated)')
    const silent = { statusCode: 0, statusDesc: '', requestId: '', peerId: 'p' }
    expect(new RemoteStatusError(silent).message).to.equal('service node answered 0')
    const failures = [{ peerId: 'p', error: new Error('gone') }]
    expect(new NoUsablePeerError(failures)).to.include({ failures })
    expect(new NoUsablePeerError(failures).message).to.equal(
      'no service node could be used (p: gone)'
    )
  })
})

describe('isWakuLightError', () => {
  it('accepts every error of this package, and of another copy of it', () => {
    for (const [error] of ERRORS) {
      expect(isWakuLightError(error), error.name).to.equal(true)
    }
    expect(isWakuLightError(foreign('ERR_CLOSED'))).to.equal(true)
  })

  it('refuses plain errors, errors of the same name or code, and what is no error', () => {
    for (const stranger of STRANGERS) {
      expect(isWakuLightError(stranger), String(stranger)).to.equal(false)
    }
  })
})

describe('hasErrorCode', () => {
  it('accepts an error for its own code alone', () => {
    for (const [error] of ERRORS) {
      expect(CODES.filter((code) => hasErrorCode(error, code))).to.deep.equal([error.code])
    }
    expect(CODES.filter((code) => hasErrorCode(foreign('ERR_CLOSED'), code))).to.deep.equal([
      'ERR_CLOSED'
    ])
  })

  it('accepts one of several codes', () => {
    const error = new ClosedError()
    expect(hasErrorCode(error, 'ERR_TIMEOUT', 'ERR_CLOSED')).to.equal(true)
    expect(hasErrorCode(error, 'ERR_TIMEOUT', 'ERR_STORAGE')).to.equal(false)
    expect(hasErrorCode(error)).to.equal(false)
  })

  it('refuses plain errors, errors of the same name or code, and what is no error', () => {
    for (const stranger of STRANGERS) {
      expect(
        CODES.filter((code) => hasErrorCode(stranger, code)),
        String(stranger)
      ).to.deep.equal([])
    }
  })
})
