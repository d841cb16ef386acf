// A chat room over waku-light. What is asked for comes by the address (?room=…&nick=…&node=…, the last one repeatable; &hours=…,
// how far back to catch up at once) or by the form.
import { type Archive, createIndexedDbArchive, createMemoryArchive } from 'waku-light/archive'
import { isWakuLightError } from 'waku-light/errors'
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode, type LightNode } from 'waku-light/node'
import { createResume, RESUME_DEFAULTS } from 'waku-light/resume'
import { StoreClient } from 'waku-light/store'
import { toContentTopic } from './model.ts'
import { byId } from './page.ts'
import { Room } from './room.ts'
import { ChatView } from './view.ts'
import { describeError } from './words.ts'

interface Wishes {
  readonly nick: string
  readonly room: string
  readonly nodes: readonly string[]
  readonly hours?: number
}

/** Of the database, and of what only one tab of this page does at a time. */
const ARCHIVE = 'waku-light-chat'
/** Of all rooms together; the oldest go first. */
const MAX_KEPT_MESSAGES = 50_000
const MS_PER_HOUR = 3_600_000

/** Hashes of own messages that are remembered for each room. */
const MAX_OWN_HASHES = 500
/** Codes after which trying again with the same service nodes is of no use. */
const HOPELESS = ['ERR_ADDRESS', 'ERR_CLUSTER_MISMATCH', 'ERR_UNSUPPORTED', 'ERR_INVALID_ARGUMENT']

const fields = {
  nick: byId<HTMLInputElement>('nick'),
  room: byId<HTMLInputElement>('room'),
  nodes: byId<HTMLTextAreaElement>('nodes')
}

let leave: (() => Promise<void>) | undefined

byId('join-form').addEventListener('submit', (event) => {
  event.preventDefault()
  const wishes = readForm()
  const problem = findProblem(wishes)
  if (problem === undefined) {
    join(wishes).catch(reportError)
  } else {
    showForm(wishes, problem.text, problem.field)
  }
})

const asked = readAddress()
if (findProblem(asked) === undefined) {
  join(asked).catch(reportError)
} else {
  showForm(asked)
}

async function join(wishes: Wishes): Promise<void> {
  let node: LightNode
  try {
    node = await createLightNode({
      serviceNodes: wishes.nodes,
      // a public page has no business in the network of whoever follows a link to it
      allowPrivateAddresses: isLocal(location.hostname)
    })
  } catch (error) {
    showForm(wishes, `This does not work: ${describeError(error)}.`)
    return
  }
  remember(wishes)
  byId('join').hidden = true

  const contentTopic = toContentTopic(wishes.room)
  const own = new OwnHashes(contentTopic)
  const store = new StoreClient(node, { requestTimeoutMs: 8_000 })
  const { archive, problem } = await openArchive()
  const resume = createResume(
    { archive, store, node },
    {
      contentTopics: [contentTopic],
      // of several tabs that share the archive, one catches up for all
      name: problem === undefined ? ARCHIVE : undefined,
      windowMs: wishes.hours === undefined ? RESUME_DEFAULTS.windowMs : wishes.hours * MS_PER_HOUR
    }
  )
  const room = new Room({
    node,
    store,
    lightPush: new LightPushClient(node),
    archive,
    resume,
    contentTopic,
    nick: wishes.nick,
    ownHashes: own.all,
    onOwnHash: (hash) => own.add(hash),
    onEvent: (event) => view.update(event)
  })
  const listening = new AbortController()
  const view: ChatView = new ChatView(room, wishes, {
    onSend: (text) => void room.send(text).catch(reportError),
    onOlder: () => void room.loadOlder().catch(reportError),
    onCheck: (entry) => void room.check(entry).catch(reportError),
    onSendAgain: (entry) => void room.sendAgain(entry).catch(reportError),
    onReconnect: () => room.reconnect(),
    onCatchUp: () => void room.retryCatchUp().catch(reportError),
    onLeave: () => {
      leave?.().catch(reportError)
      showForm(wishes)
    }
  })
  leave = async () => {
    leave = undefined
    listening.abort()
    view.close()
    room.close()
    await Promise.all([node.close(), archive.close()])
  }
  const notKept = byId('not-kept')
  notKept.hidden = problem === undefined
  notKept.textContent = `Messages are not kept on this device: ${problem}.`

  view.show()
  room.open().catch(reportError)
  try {
    await node.network({ signal: listening.signal })
  } catch (error) {
    // a node that is away may come back; one that cannot be used goes back to the form
    if (!listening.signal.aborted && isHopeless(error)) {
      await leave?.()
      showForm(wishes, `No service node can be used: ${describeError(error)}.`, fields.nodes)
    }
  }
}

/** Where there is no database, in some private windows, the page works without: for as long as it is open. */
async function openArchive(): Promise<{ archive: Archive; problem?: string }> {
  try {
    const archive = await createIndexedDbArchive(ARCHIVE)
    await archive.prune({ maxCount: MAX_KEPT_MESSAGES })
    return { archive }
  } catch (error) {
    return { archive: createMemoryArchive(), problem: describeError(error) }
  }
}

function isHopeless(error: unknown): boolean {
  if (!isWakuLightError(error)) {
    return false
  }
  const { failures = [] } = error as { failures?: readonly { error: unknown }[] }
  return failures.length > 0
    ? failures.every((failure) => isHopeless(failure.error))
    : HOPELESS.includes(error.code)
}

function readAddress(): Wishes {
  const parameters = new URLSearchParams(location.search)
  const nodes = parameters.getAll('node').filter((node) => node !== '')
  const hours = Number(parameters.get('hours'))
  return {
    nick: tidy(parameters.get('nick') ?? ''),
    room: tidy(parameters.get('room') ?? ''),
    nodes,
    ...(hours > 0 && { hours })
  }
}

function readForm(): Wishes {
  return {
    nick: tidy(fields.nick.value),
    room: tidy(fields.room.value).replace(/^#/, ''),
    nodes: fields.nodes.value.split(/\s+/).filter((node) => node !== ''),
    hours: asked.hours
  }
}

function tidy(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

function findProblem(wishes: Wishes): { text: string; field: HTMLElement } | undefined {
  if (wishes.nick === '') {
    return { text: 'Please say who you are.', field: fields.nick }
  }
  if (wishes.room === '') {
    return { text: 'Please name a room.', field: fields.room }
  }
  return wishes.nodes.length === 0
    ? { text: 'Please give the address of a service node.', field: fields.nodes }
    : undefined
}

function showForm(wishes: Wishes, problem?: string, field?: HTMLElement): void {
  fields.nick.value = wishes.nick || (readStorage('nick') ?? '')
  fields.room.value = wishes.room || (readStorage('room') ?? '')
  fields.nodes.value = wishes.nodes.join('\n') || (readStorage('nodes') ?? '')
  const error = byId('join-error')
  error.hidden = problem === undefined
  error.textContent = problem ?? ''
  byId('join').hidden = false
  const empty = Object.values(fields).find(({ value }) => value === '')
  const focused = field ?? empty ?? fields.nick
  focused.focus()
}

/** For the next visit, and for a reload. */
function remember({ nick, room, nodes, hours }: Wishes): void {
  writeStorage('nick', nick)
  writeStorage('room', room)
  writeStorage('nodes', nodes.join('\n'))
  const parameters = new URLSearchParams({ room, nick })
  for (const node of nodes) {
    parameters.append('node', node)
  }
  if (hours !== undefined) {
    parameters.set('hours', String(hours))
  }
  // multiaddrs stay readable
  const search = parameters.toString().replaceAll('%2F', '/')
  history.replaceState(null, '', `?${search}`)
}

/** Which messages are one's own is known by their hashes: a name can be used by anybody. */
class OwnHashes {
  readonly #name: string
  readonly all: string[]

  constructor(contentTopic: string) {
    this.#name = `own ${contentTopic}`
    this.all = readStorage(this.#name)?.split(' ') ?? []
  }

  add(hash: string): void {
    this.all.push(hash)
    writeStorage(this.#name, this.all.slice(-MAX_OWN_HASHES).join(' '))
  }
}

/** Storage may be forbidden, or full; the page works without. */
function readStorage(name: string): string | undefined {
  try {
    return localStorage.getItem(`waku-light-chat ${name}`) ?? undefined
  } catch {
    return undefined
  }
}

function writeStorage(name: string, value: string): void {
  try {
    localStorage.setItem(`waku-light-chat ${name}`, value)
  } catch {
    // not remembered
  }
}

function isLocal(hostname: string): boolean {
  return /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\])/.test(hostname)
}
