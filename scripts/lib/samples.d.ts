// What the samples of README.md and docs/ take as given, so that their types can be checked (scripts/lib/samples.js).
declare global {
  const createLibp2p: typeof import('libp2p').createLibp2p
  const webSockets: typeof import('@libp2p/websockets').webSockets
  const noise: typeof import('@chainsafe/libp2p-noise').noise
  const yamux: typeof import('@chainsafe/libp2p-yamux').yamux
  const identify: typeof import('@libp2p/identify').identify
  const others: import('libp2p').Libp2pOptions

  const StoreClient: typeof import('waku-light/store').StoreClient
  const LightPushClient: typeof import('waku-light/light-push').LightPushClient
  const createOutbox: typeof import('waku-light/outbox').createOutbox
  const indexedDbStorage: typeof import('waku-light/outbox').indexedDbStorage
  const createResume: typeof import('waku-light/resume').createResume
  const createSync: typeof import('waku-light/sync').createSync
  const hasErrorCode: typeof import('waku-light/errors').hasErrorCode

  const node: import('waku-light/node').LightNode
  const store: import('waku-light/store').StoreClient
  const archive: import('waku-light/archive').Archive
  const storage: import('waku-light/outbox').OutboxStorage
  const serviceNodes: string[]
  const criteria: import('waku-light/store').StoreCriteria
  const contentTopics: string[]
  const message: import('waku-light/light-push').OutgoingMessage
  const payload: Uint8Array
  const sent: import('waku-light/light-push').PushResult
  const page: import('waku-light/store').MessagePage
  const draftId: string
  const signal: AbortSignal
  const retryButton: HTMLButtonElement
  let position: string | undefined
  function show(...what: unknown[]): void
  function render(what: unknown): void
  function prepend(what: unknown): void
}

export {}
