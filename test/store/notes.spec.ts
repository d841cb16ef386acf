import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { fillGaps, StoreClient, sources } from 'waku-light/store'
import { encodeStoreQueryResponse } from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }

function filled(peerId: string): FakePeer {
  const archive = new Archive()
  archive.add(messageAt(1n, 'one'), PUBSUB_TOPIC)
  return archivePeer(archive, peerId)
}

const answering = (peerId: string, answer: FakePeer['answer']): FakePeer => ({
  ...filled(peerId),
  answer
})

const garbage = answering('bad', () => Uint8Array.of(0xff))
const busy = answering('busy', () =>
  encodeStoreQueryResponse({ requestId: 'N/A', statusCode: 429, messages: [] })
)
const broken = answering('gone', () => {
  throw new ConnectionError('broken')
})

describe('StoreClient, of what speaks for and against a node', () => {
  it('is told for each page, in walks and look-ups', async () => {
    for (const call of [
      (client: StoreClient) => collect(client.query(CRITERIA)),
      (client: StoreClient) => client.has([new Uint8Array(32)])
    ]) {
      const peers = new FakePeers([garbage, busy, broken, filled('good')])
      await call(new StoreClient(peers))
      // what broke on the way is noted by the service peers themselves
      const told = peers.notes.filter((note, index, all) => all.indexOf(note) === index)
      expect(told).to.deep.equal([
        'bad: ERR_INVALID_MESSAGE',
        'busy: ERR_REMOTE_STATUS 429',
        'good: good'
      ])
    }
  })

  it('is told where several nodes are read side by side', async () => {
    for (const walker of [sources(2), fillGaps(2)]) {
      const peers = new FakePeers([filled('good'), garbage])
      await collect(new StoreClient(peers).queryPages(CRITERIA, { walker }))
      expect(peers.notes).to.include('bad: ERR_INVALID_MESSAGE')
      expect(peers.notes).to.include('good: good')
    }
  })
})
