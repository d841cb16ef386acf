import { expect } from 'chai'
import { watchOutages } from '../../src/resume/outages.ts'

describe('watchOutages', () => {
  it('tells of the first connection after all were lost, and of nothing else', () => {
    let listener: (change: { peerId: string; connected: boolean }) => void = () => undefined
    let told = 0
    const node = {
      servicePeers: { candidates: () => [] },
      connectedPeers: ['a'],
      onConnectionChange: (given: typeof listener) => {
        listener = given
        return () => {
          listener = () => undefined
        }
      }
    }
    const unwatch = watchOutages(node, () => {
      told++
    })
    const counts = (
      [
        ['b', true],
        ['a', false],
        ['a', true],
        ['a', false],
        ['b', false],
        ['b', true],
        ['a', true],
        ['a', false],
        ['b', false],
        ['a', true]
      ] as const
    ).map(([peerId, connected]) => {
      listener({ peerId, connected })
      return told
    })
    expect(counts).to.deep.equal([0, 0, 0, 0, 0, 1, 1, 1, 1, 2])
    unwatch()
    listener({ peerId: 'a', connected: false })
    listener({ peerId: 'a', connected: true })
    expect(told).to.equal(2)
  })

  it('watches nothing where there is nothing to watch', () => {
    watchOutages(undefined, () => undefined)()
    watchOutages({ servicePeers: { candidates: () => [] } }, () => undefined)()
  })
})
