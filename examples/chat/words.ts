// States and errors in words for the person at the screen.
import { isWakuLightError } from 'waku-light/errors'
import type { PushResult } from 'waku-light/light-push'
import type { CatchUpState, ConnectionState, Delivery, Entry } from './model.ts'

export function describeError(error: unknown): string {
  if (!isWakuLightError(error)) {
    return error instanceof Error ? error.message : String(error)
  }
  switch (error.code) {
    case 'ERR_NO_USABLE_PEER': {
      const { failures } = error as { failures?: readonly { error: Error }[] }
      return [...new Set(failures?.map((failure) => describeError(failure.error)))].join('; ')
    }
    case 'ERR_INCOMPLETE_HISTORY':
      return describeError(error.cause)
    case 'ERR_CONNECTION':
      return 'the service node cannot be reached'
    case 'ERR_TIMEOUT':
      return 'the service node did not answer in time'
    case 'ERR_MESSAGE_TOO_LARGE':
      return 'the message is too long'
    case 'ERR_STORAGE_FULL':
      return 'there is no room left on this device'
    default:
      return error.message
  }
}

export function describePush({ attempts, error }: PushResult): string {
  const attempt = attempts.findLast(({ status }) => status === 'unknown') ?? attempts.at(-1)
  switch (attempt?.reason) {
    case 'not-relayed':
      return 'the service node has nobody to pass it on to'
    case 'refused':
      return `the service node refused it${attempt.statusDesc ? ` (${attempt.statusDesc})` : ''}`
    case 'rate-limited':
      return 'the service node asks for a pause'
    case 'no-answer':
      return 'no answer came'
    default:
      return describeError(attempt?.error ?? error ?? new Error('the reason is not known'))
  }
}

export function describeDelivery(entry: Entry, delivery: Delivery): string {
  switch (delivery.state) {
    case 'sending':
      return 'Sending…'
    case 'published': {
      const { relayPeerCount: count } = delivery
      const reach =
        count === undefined
          ? 'Published'
          : `Published to ${count} ${count === 1 ? 'peer' : 'peers'}`
      return entry.stored ? `${reach} · stored` : reach
    }
    case 'unknown': {
      if (entry.stored) {
        const stored = 'Stored at the service node'
        return delivery.isStranded ? `${stored}, but it has nobody to pass it on to` : stored
      }
      return delivery.checking ? 'Checking…' : `It may be out, or not: ${delivery.reason}`
    }
    case 'failed':
      return `Not sent: ${delivery.reason}`
  }
}

export function describeConnection(connection: ConnectionState): string {
  switch (connection.state) {
    case 'connecting':
      return 'Connecting…'
    case 'connected':
      return connection.nodeCount === 1 ? 'Connected' : `Connected to ${connection.nodeCount} nodes`
    case 'reconnecting': {
      const seconds = Math.ceil(((connection.retryAtMs ?? 0) - Date.now()) / 1000)
      return seconds > 0 ? `Offline, next try in ${seconds} s` : 'Reconnecting…'
    }
    case 'stopped':
      return `Stopped: ${connection.reason}`
  }
}

export function describeCatchUp(catchUp: CatchUpState): string {
  switch (catchUp.state) {
    case 'waiting':
      return 'Another tab keeps this room up to date.'
    case 'running':
      return `Catching up since ${formatTime(catchUp.since)}…`
    case 'filling': {
      const { from, to } = catchUp.gap
      return `Fetching what was said between ${formatTime(from)} and ${formatTime(to)}…`
    }
    case 'done': {
      const { count, since } = catchUp
      return count === 0
        ? `Nothing new since ${formatTime(since)}`
        : `Caught up: ${count} ${count === 1 ? 'message' : 'messages'} since ${formatTime(since)}`
    }
    case 'failed': {
      const { gap, reason } = catchUp
      return gap === undefined
        ? `Not caught up yet: ${reason}.`
        : `What was said between ${formatTime(gap.from)} and ${formatTime(gap.to)} is missing: ${reason}.`
    }
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' })
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

function formatTime(nanoseconds: bigint): string {
  const date = new Date(Number(nanoseconds / 1_000_000n))
  const isToday = date.toDateString() === new Date().toDateString()
  return (isToday ? clock : calendar).format(date)
}
