import { expect } from 'chai'
import { InvalidArgumentError } from 'waku-light/errors'
import { fromHex, toHex } from 'waku-light/message'
import { compareBytes, encodeText } from '../../src/lib/bytes.ts'

describe('toHex and fromHex', () => {
  it('are inverse to each other for every byte', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    expect(fromHex(toHex(bytes))).to.deep.equal(bytes)
    expect(toHex(bytes).slice(0, 8)).to.equal('00010203')
    expect(toHex(bytes.subarray(254))).to.equal('feff')
  })

  it('know the empty text', () => {
    expect(toHex(new Uint8Array())).to.equal('')
    expect(fromHex('')).to.have.length(0)
  })

  it('take upper case', () => {
    expect(fromHex('FFab')).to.deep.equal(Uint8Array.of(255, 171))
  })

  it('reject what is no even number of digits', () => {
    for (const text of [
      '0',
      '0g',
      '0x00',
      ' 00',
      '00\n',
      'é0',
      '00 0',
      undefined,
      null,
      0,
      ['00']
    ]) {
      expect(() => fromHex(text as string))
        .to.throw(InvalidArgumentError)
        .with.property('parameter', 'text')
    }
  })
})

describe('compareBytes', () => {
  it('sorts byte by byte as unsigned numbers, a prefix before what it begins', () => {
    const sorted = ['', '00', '0000', '0001', '01', '7f', '80', '80ff', 'ff']
    const shuffled = ['80', '', 'ff', '0001', '01', '80ff', '00', '7f', '0000']
    expect(shuffled.map(fromHex).sort(compareBytes).map(toHex)).to.deep.equal(sorted)
    expect(compareBytes(fromHex('0102'), fromHex('0102'))).to.equal(0)
  })
})

describe('encodeText', () => {
  it('is UTF-8', () => {
    expect(toHex(encodeText('aé😀'))).to.equal('61' + 'c3a9' + 'f09f9880')
  })
})
