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
  /** The peer id it names, if it does. */
  readonly peerId: string | undefined
}

/**
 * Parses an address and tells whether it may be opened from here.
 *
 * @throws {@link AddressError} with the reason if not
 */
export function parseServiceAddress(address: string, policy: AddressPolicy): ServiceAddress {
  let parsed: Multiaddr
  try {
    parsed = multiaddr(address)
  } catch (cause) {
    throw new AddressError(
      String(address),
      `is not a multiaddr (${cause instanceof Error ? cause.message : 'no reason given'})`
    )
  }
  const components = parsed.getComponents()
  const has = (...names: string[]): boolean => components.some(({ name }) => names.includes(name))
  const refuse = (reason: string): never => {
    throw new AddressError(address, reason)
  }
  if (has('p2p-circuit')) {
    refuse('relayed (circuit) connections are not supported')
  }
  if (!has('ws', 'wss')) {
    refuse('is not a websocket address (/ws or /wss); a browser can open no other')
  }
  const [host] = components
  const value = host?.value ?? ''
  if (!['ip4', 'ip6', 'dns', 'dns4', 'dns6'].includes(host?.name ?? '')) {
    refuse('does not start with a host (/ip4, /ip6, /dns, /dns4 or /dns6)')
  }
  const local = isLoopback(value)
  const secure = has('wss', 'tls')
  if (policy.secureContextOnly && !secure && !local) {
    refuse('plain ws cannot be opened from a page that came by https; use wss')
  }
  if (!policy.allowPrivateAddresses && !local && isPrivate(value)) {
    refuse('is in a private network; set allowPrivateAddresses to allow it')
  }
  return { multiaddr: parsed, peerId: components.findLast(({ name }) => name === 'p2p')?.value }
}

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\./.test(host)
  )
}

/** Private, link-local, shared and unspecified ranges of IPv4 and IPv6 (RFC 1918, 3927, 4193, 4291, 6598). */
function isPrivate(host: string): boolean {
  return (
    /^(10|0)\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^169\.254\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./.test(
      host
    ) || /^f[cd][0-9a-f]{2}:|^fe[89ab][0-9a-f]:|^::$/i.test(host)
  )
}
