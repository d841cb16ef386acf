import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import * as here from '../src/errors.ts'

const copyUrl = new URL('../src/errors.ts?copy', import.meta.url).href

describe('isWakuLightError, over copies and realms', () => {
  it('accepts the errors of a second copy of the module, both ways', async () => {
    const there = (await import(copyUrl)) as typeof here
    expect(there.ClosedError).to.not.equal(here.ClosedError)
    const [ours, theirs] = [new here.ClosedError(), new there.ClosedError()]
    expect(theirs).to.not.be.instanceOf(here.ClosedError)
    expect(here.hasErrorCode(theirs, 'ERR_CLOSED')).to.equal(true)
    expect(there.hasErrorCode(ours, 'ERR_CLOSED')).to.equal(true)
    expect(here.hasErrorCode(theirs, 'ERR_TIMEOUT')).to.equal(false)
  })

  // pending: `instanceof Object` in src/errors.ts is false for every object of another realm
  it('accepts an error of another realm', () => {
    const error = runInNewContext(
      "Object.defineProperty(Object.assign(new Error('far'), { code: 'ERR_CLOSED' }), Symbol.for('waku-light.error'), { value: true })"
    )
    expect(error).to.not.be.instanceOf(Object)
    expect(here.hasErrorCode(error, 'ERR_CLOSED')).to.equal(true)
    expect(here.isWakuLightError(runInNewContext("new Error('far')"))).to.equal(false)
  })
})
