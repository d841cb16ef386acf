import { expect } from 'chai'
import type { Archive } from 'waku-light/archive'
import { hasErrorCode, type StorageError } from 'waku-light/errors'
import type { StoredMessage } from 'waku-light/store'
import { collect, failure, failureOf } from '../helpers/collect.ts'
import { archiveContract } from './contract.ts'
import { Databases, settled } from './databases.ts'
import { history, stored, textsOf } from './messages.ts'
import { archiveProperties } from './properties.ts'
import { openVersion1 } from './version-1.ts'

const shared = new Databases()
const create = async (): ReturnType<Databases['archive']> => await shared.archive()

archiveContract('createIndexedDbArchive', create)
archiveProperties('createIndexedDbArchive', create, 25)

/** What an archive tells of, as text. */
class Told {
  readonly texts: string[] = []
  #check: () => void = () => {}

  constructor(archive: Archive) {
    archive.subscribe((messages) => {
      this.texts.push(...textsOf(messages))
      this.#check()
    })
  }

  async reaches(count: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#check = () => (this.texts.length >= count ? resolve() : undefined)
      this.#check()
    })
  }
}

describe('createIndexedDbArchive', () => {
  const databases = new Databases()

  afterEach(async () => {
    await databases.clear()
  })

  after(async () => {
    await shared.clear()
  })

  it('keeps messages and marks from one session to the next', async () => {
    const name = databases.name()
    const first = await databases.archive(name)
    const many = history(50)
    await first.putMany(many, { marks: { until: 5n } })
    await first.close()
    const second = await databases.archive(name)
    expect(await collect(second.walk())).to.deep.equal(many)
    expect(await second.getMark('until')).to.equal(5n)
  })

  it('rejects a name that is none, a deadline that is none, and an aborted signal', async () => {
    await failureOf('ERR_INVALID_ARGUMENT', () => databases.archive(''))
    await failureOf('ERR_INVALID_ARGUMENT', () => databases.archive('a', { timeoutMs: 0 }))
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    expect(await failure(() => databases.archive(databases.name(), { signal }))).to.equal(reason)
  })

  describe('with another connection to the same database', () => {
    it('tells each of what the other adds, each once', async () => {
      const name = databases.name()
      const [first, second] = [await databases.archive(name), await databases.archive(name)]
      const [atFirst, atSecond] = [new Told(first), new Told(second)]
      const many = history(150)
      const added = await Promise.all([
        first.putMany(many.slice(0, 100)),
        second.putMany(many.slice(50)),
        first.putMany(many)
      ])
      expect(added.flat()).to.have.length(150)
      await Promise.all([atFirst.reaches(150), atSecond.reaches(150)])
      // What comes later would show what was told twice.
      await first.putMany([stored(1n, 'from first')])
      await second.putMany([stored(2n, 'from second')])
      await Promise.all([atFirst.reaches(152), atSecond.reaches(152)])
      const expected = [...textsOf(many), 'from first', 'from second'].sort()
      expect(atFirst.texts.toSorted()).to.deep.equal(expected)
      expect(atSecond.texts.toSorted()).to.deep.equal(expected)
    })

    it('sees what the other stored, and does not store it again', async () => {
      const name = databases.name()
      const [first, second] = [await databases.archive(name), await databases.archive(name)]
      const many = history(30)
      await first.putMany(many, { marks: { a: 1 } })
      expect(await second.putMany(many)).to.deep.equal([])
      expect(await second.count()).to.equal(30)
      expect(await second.getMark('a')).to.equal(1)
      await second.prune({ maxCount: 5 })
      expect(await collect(first.walk())).to.deep.equal(many.slice(25))
    })

    it('walks on while the other adds', async () => {
      const name = databases.name()
      const [first, second] = [await databases.archive(name), await databases.archive(name)]
      const many = history(300)
      await first.putMany(many.slice(0, 200))
      const walking = first.walk()
      const start = (await walking.next()).value as StoredMessage
      await second.putMany(many)
      const rest = await collect(walking)
      expect([start, ...rest]).to.deep.equal(many)
    })
  })

  describe('the schema', () => {
    it('of version 1 is brought up to date, with what is in it', async () => {
      const name = databases.name()
      const old = history(45)
      await openVersion1(databases, name, old)
      const archive = await databases.archive(name)
      expect(await collect(archive.walk())).to.deep.equal(old)
      expect(await collect(archive.walk({ direction: 'backward' }))).to.deep.equal(old.toReversed())
      const many = history(60)
      expect(await archive.putMany(many, { marks: { a: 1 } })).to.deep.equal(many.slice(45))
      expect(await archive.getMark('a')).to.equal(1)
    })

    it('of a newer version is refused', async () => {
      const name = databases.name()
      ;(await databases.connect(name, 99)).close()
      const error = await failureOf('ERR_STORAGE', () => databases.archive(name))
      expect(error.reason).to.equal('newer-schema')
      expect(error.cause).to.have.property('name', 'VersionError')
    })

    it('cannot be brought up to date while an old tab holds on, and can after that', async () => {
      const name = databases.name()
      const old = await databases.connect(name, 1, (database) => {
        database
          .createObjectStore('chunks', { keyPath: 'start' })
          .createIndex('hashes', 'hashes', { unique: true, multiEntry: true })
      })
      const error = await failureOf('ERR_STORAGE', () => databases.archive(name, { timeoutMs: 50 }))
      expect(error.reason).to.equal('blocked')
      expect(hasErrorCode(error.cause, 'ERR_TIMEOUT')).to.equal(true)
      old.close()
      // What was given up closes itself as soon as it opens.
      const archive = await databases.archive(name)
      expect(await archive.count()).to.equal(0)
    })
  })

  describe('a database that is taken away', () => {
    const lost = async (
      take: (name: string) => Promise<unknown>
    ): Promise<{ error: StorageError; calls: number }> => {
      const name = databases.name()
      const errors: StorageError[] = []
      const archive = await databases.archive(name, { onLost: (error) => errors.push(error) })
      await archive.putMany(history(100))
      const walking = archive.walk()
      await walking.next()
      await take(name)
      const error = await failureOf('ERR_STORAGE', () => archive.putMany(history(1)))
      expect(error.reason).to.equal('lost')
      for (const call of [
        () => collect(walking),
        () => archive.count(),
        () => archive.has([]),
        () => archive.subscribe(() => {}),
        () => archive.prune({ maxCount: 1 })
      ]) {
        expect(await failure(call)).to.equal(error)
      }
      expect(errors).to.deep.equal([error])
      await archive.close()
      await failureOf('ERR_CLOSED', () => archive.count())
      return { error, calls: errors.length }
    }

    it('is let go where it is deleted', async () => {
      const { error } = await lost((name) => settled(indexedDB.deleteDatabase(name)))
      expect(error.message).to.contain('deleted')
    })

    it('is let go where a newer version takes over', async () => {
      const { error } = await lost((name) => databases.connect(name, 99))
      expect(error.message).to.contain('upgraded')
    })

    it('does not keep a put waiting', async () => {
      const name = databases.name()
      const archive = await databases.archive(name)
      const deleting = settled(indexedDB.deleteDatabase(name))
      const puts = history(50).map((message) => archive.putMany([message]))
      const results = await Promise.allSettled(puts)
      await deleting
      for (const result of results) {
        if (result.status === 'rejected') {
          expect(hasErrorCode(result.reason, 'ERR_STORAGE')).to.equal(true)
        }
      }
      await failureOf('ERR_STORAGE', () => archive.count())
    })
  })
})
