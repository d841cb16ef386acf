import { expect } from 'chai'
import { LightPushClient } from 'waku-light/light-push'
import { type FakePeer, FakePeers } from '../helpers/fake-peers.ts'
import { push3Peer } from '../helpers/push-peers.ts'

/** What is told of a node after one push. */
async function notesOf(peer: FakePeer): Promise<readonly string[]> {
  const peers = new FakePeers([peer])
  const client = new LightPushClient(peers)
  await client.push({ contentTopic: '/a/1/b/proto', payload: Uint8Array.of(1) }, { retry: false })
  return peers.notes
}

describe('LightPushClient.push, of what speaks against a node', () => {
  for (const [statusCode, verdict] of [
    [200, 'good'],
    [400, 'good'], // the message is to blame
    [413, 'good'],
    [429, 'ERR_REMOTE_STATUS 429'],
    [500, 'ERR_REMOTE_STATUS 500'],
    [503, 'ERR_REMOTE_STATUS 503'],
    [504, 'ERR_REMOTE_STATUS 504'],
    [505, 'ERR_REMOTE_STATUS 505']
  ] as const) {
    it(`${statusCode} is ${verdict}`, async () => {
      const relayPeerCount = statusCode === 200 ? 1 : undefined
      expect(await notesOf(push3Peer({ statusCode, relayPeerCount }))).to.deep.equal([
        `peer: ${verdict}`
      ])
    })
  }

  it('garbage is, and what broke on the way is noted by others', async () => {
    expect(await notesOf(push3Peer(Uint8Array.of(0xff)))).to.deep.equal([
      'peer: ERR_INVALID_MESSAGE'
    ])
    const broken = (): never => {
      throw new Error('broken')
    }
    expect(await notesOf({ ...push3Peer({ statusCode: 200 }), answer: broken })).to.deep.equal([])
  })
})
