import { expect } from 'chai'
import { ClosedError } from 'waku-light/errors'
import { toStorageError } from '../../src/lib/indexed-db.ts'

describe('toStorageError', () => {
  for (const [name, code, reason] of [
    ['QuotaExceededError', 'ERR_STORAGE_FULL', undefined],
    ['VersionError', 'ERR_STORAGE', 'newer-schema'],
    ['AbortError', 'ERR_STORAGE', 'lost'],
    ['InvalidStateError', 'ERR_STORAGE', 'lost'],
    ['DataError', 'ERR_STORAGE', 'failed']
  ] as const) {
    it(`makes ${code} ${reason ?? ''} of ${name}`, () => {
      const cause = new DOMException('why', name)
      const error = toStorageError(cause)
      expect(error).to.include({ code, cause })
      expect((error as { reason?: string }).reason).to.equal(reason)
    })
  }

  it('takes what is no error, as a transaction that was aborted has none', () => {
    expect(toStorageError(null)).to.include({ code: 'ERR_STORAGE', reason: 'failed', cause: null })
  })

  it('leaves an error of this package as it is', () => {
    const error = new ClosedError()
    expect(toStorageError(error)).to.equal(error)
  })
})
