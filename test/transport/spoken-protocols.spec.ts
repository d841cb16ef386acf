import { expect } from 'chai'
import { SpokenProtocols } from '../../src/transport/spoken-protocols.ts'

const WANTED = ['/c', '/b', '/a']

describe('SpokenProtocols', () => {
  it('keeps the wanted order while nothing is known', () => {
    expect(new SpokenProtocols().inOrder(WANTED)).to.deep.equal(WANTED)
  })

  it('puts last what was refused, until it is taken', () => {
    const spoken = new SpokenProtocols()
    spoken.note('/c', false)
    expect(spoken.inOrder(WANTED)).to.deep.equal(['/b', '/a', '/c'])
    spoken.note('/c', true)
    expect(spoken.inOrder(WANTED)).to.deep.equal(WANTED)
  })

  it('does not prefer an old protocol because it was used', () => {
    const spoken = new SpokenProtocols()
    spoken.note('/a', true)
    expect(spoken.inOrder(WANTED)).to.deep.equal(WANTED)
  })

  it('puts first what the peer lists, which outweighs what it refused before', () => {
    const spoken = new SpokenProtocols()
    spoken.note('/b', false)
    spoken.list(['/b', '/a', '/other'])
    expect(spoken.inOrder(WANTED)).to.deep.equal(['/b', '/a', '/c'])
    spoken.note('/b', false)
    expect(spoken.inOrder(WANTED)).to.deep.equal(['/a', '/c', '/b'])
  })
})
