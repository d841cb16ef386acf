import type { ServiceNode } from 'waku-light-service-node'

/** The value of a metric without labels, of a node with an admin port. */
export async function metric({ adminUrl }: ServiceNode, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}
