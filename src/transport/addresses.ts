import { isPrivateIp } from '@libp2p/utils'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { AddressError } from '../errors.ts'

/** What decides which addresses may be opened. */
export interface AddressPolicy {
  /** True in a page that came by https: it may not open plain ws, loopback excepted. */
  readonly secureContextOnly: boolean
  /** True: addresses of private networks are allowed. Loopback always is. */
  readonly allowPrivateAddresses: boolean
}

/** An address that may be opened. */
export interface ServiceAddress {
  readonly multiaddr: Multiaddr
  /** The peer id it names, if it does, in its usual form. */
  readonly peerId: string | undefined
}

const MAX_SHOWN_CHARACTERS = 256
const WEBSOCKET_ADDRESS = /^(ip4|ip6|dns|dns4|dns6) tcp (ws|wss|tls ws|tls sni ws)( p2p)?$/

/**
 * Parses an address and tells whether it may be opened from here.
 *
 * @throws {@link AddressError} with the reason if not
 */
export function parseServiceAddress(address: string, policy: AddressPolicy): ServiceAddress {
  const refuse = (reason: string): never => {
    throw new AddressError(toShown(address), reason)
  }
  const parsed = parse(address, refuse)
  const components = parsed.getComponents()
  const names = components.map(({ name }) => name)
  if (names.includes('p2p-circuit')) {
    refuse('relayed (circuit) connections are not supported')
  }
  if (!names.includes('ws') && !names.includes('wss')) {
    refuse('is not a websocket address (/ws or /wss)')
  }
  if (!WEBSOCKET_ADDRESS.test(names.join(' '))) {
    refuse('is not of the form /{ip4|dns4|…}/{host}/tcp/{port}/{ws|wss|tls/ws}')
  }
  const { protocol, hostname } =
    toUrl(parsed) ?? refuse('has a host that is neither a name nor an IP address')
  const host = hostname.replace(/^\[|\]$|\.$/g, '')
  const local = isLoopback(host)
  if (policy.secureContextOnly && protocol === 'ws:' && !local) {
    refuse('a page that came by https may not open ws; use wss')
  }
  if (!policy.allowPrivateAddresses && !local && isPrivate(host)) {
    refuse('is in a private network; set allowPrivateAddresses to allow it')
  }
  return { multiaddr: parsed, peerId: components.find(({ name }) => name === 'p2p')?.value }
}

/**
 * Where a websocket address is opened, as the platform reads it: `0x7f.1` is 127.0.0.1. The name in /sni/ goes before the host.
 * Undefined for a host that is neither a name nor an IP address.
 */
export function toUrl(address: Multiaddr): URL | undefined {
  const components = address.getComponents()
  const valueOf = (wanted: string): string | undefined =>
    components.find(({ name }) => name === wanted)?.value
  const host = valueOf('sni') ?? components[0]?.value ?? ''
  const scheme = components.some(({ name }) => name === 'wss' || name === 'tls') ? 'wss' : 'ws'
  try {
    return /^[a-z0-9._:-]+$/i.test(host)
      ? new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${valueOf('tcp')}`)
      : undefined
  } catch {
    return undefined
  }
}

/** An address as errors and logs may show it: one short line, without what looks like credentials. */
export function toShown(address: unknown): string {
  if (typeof address !== 'string') {
    return `(a value of type ${address === null ? 'null' : typeof address})`
  }
  return address
    .replace(/[?#].*$/s, '…')
    .split('/')
    .map((part) => (part.includes('@') ? `…${part.slice(part.lastIndexOf('@'))}` : part))
    .join('/')
    .slice(0, MAX_SHOWN_CHARACTERS)
    .replace(/[^ -~…]/g, '?')
}

/** Through its bytes and back, which checks all parts and leaves one form of each. */
function parse(address: string, refuse: (reason: string) => never): Multiaddr {
  if (typeof address !== 'string' || address === '') {
    return refuse('must be a non-empty string')
  }
  if (/^[a-z]+:\/\//i.test(address)) {
    return refuse('is a URL, not a multiaddr such as /dns4/{host}/tcp/{port}/wss/p2p/{peer id}')
  }
  try {
    return multiaddr(multiaddr(address).bytes)
  } catch (cause) {
    const reason = cause instanceof Error ? `: ${toShown(cause.message)}` : ''
    return refuse(`is not a multiaddr${reason}`)
  }
}

function isLoopback(address: string): boolean {
  return /^(.*\.)?localhost$|^::1$|^127(\.\d+){3}$|^::ffff:7f..:[0-9a-f]+$/.test(address)
}

/** Private and otherwise reserved ranges, IPv4 behind NAT64 (RFC 6052), and names of the local network (RFC 6762). */
function isPrivate(address: string): boolean {
  return isPrivateIp(address) === true || /\.local$|^64:ff9b:/.test(address)
}
