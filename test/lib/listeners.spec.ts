import { expect } from 'chai'
import { Listeners } from '../../src/lib/listeners.ts'

describe('Listeners', () => {
  it('tells all, whatever one throws, and each until it is taken out', () => {
    const listeners = new Listeners<number>()
    const told: string[] = []
    listeners.add(() => {
      throw new Error('mine')
    })
    const note = (event: number): void => {
      told.push(`note ${event}`)
    }
    const end = listeners.add(note)
    listeners.add(note)
    listeners.tell(1)
    expect(told.splice(0)).to.deep.equal(['note 1', 'note 1'])
    end()
    end()
    listeners.tell(2)
    expect(told.splice(0)).to.deep.equal(['note 2'])
    listeners.clear()
    listeners.tell(3)
    expect(told).to.deep.equal([])
  })
})
