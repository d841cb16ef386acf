import { InvalidArgumentError } from '../errors.ts'

/** What a service node may do for a client, whatever the generation of the protocol. */
export type Service = 'light-push' | 'store' | 'sync'

const SERVICES: readonly (readonly [Service, RegExp])[] = [
  ['light-push', /^\/vac\/waku\/lightpush\//],
  ['store', /^\/vac\/waku\/store(-query)?\//],
  ['sync', /^\/vac\/waku\/reconciliation\//]
]

/** The service that a protocol belongs to; the protocol itself where it is none of ours. */
export function serviceOf(protocol: string): string {
  return SERVICES.find(([, pattern]) => pattern.test(protocol))?.[0] ?? protocol
}

/** All services that some protocols are for, in a fixed order. */
export function servicesOf(protocols: Iterable<string>): readonly Service[] {
  const all = [...protocols]
  return SERVICES.filter(([, pattern]) => all.some((protocol) => pattern.test(protocol))).map(
    ([service]) => service
  )
}

/**
 * Checks the name of a service.
 *
 * @throws {@link InvalidArgumentError} if it is none
 */
export function assertService(service: Service): void {
  const names = SERVICES.map(([name]) => name)
  if (!names.includes(service)) {
    throw new InvalidArgumentError('service', `must be one of ${names.join(', ')}`)
  }
}
