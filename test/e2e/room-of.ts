import { createMemoryArchive } from 'waku-light/archive'
import type { LightPushClient } from 'waku-light/light-push'
import type { Resume } from 'waku-light/resume'
import type { StoreClient } from 'waku-light/store'
import { Room, type RoomInit } from '../../examples/chat/room.ts'

export const CONTENT_TOPIC = '/waku-light-chat/1/lobby/json'

/** A room of the example page over parts that do nothing, but for those that are given. */
export function roomOf(
  parts: Partial<RoomInit>,
  status: RoomInit['node']['state']['status'] = 'ready'
): Room {
  return new Room({
    node: {
      state: { status, services: [] },
      connectedPeers: [],
      network: async () => ({ clusterId: 66, shardCount: 8 }),
      onStateChange: () => () => {},
      reconnect: () => {}
    },
    archive: createMemoryArchive(),
    resume: {} as unknown as Resume,
    store: {} as unknown as StoreClient,
    lightPush: {} as unknown as LightPushClient,
    contentTopic: CONTENT_TOPIC,
    nick: 'Ada',
    ownHashes: [],
    onOwnHash: () => {},
    onEvent: () => {},
    ...parts
  })
}
