import type { ServiceNodes } from './start-service-nodes.ts'

interface KarmaGlobal {
  readonly __karma__?: { readonly config: { readonly serviceNodes: Omit<ServiceNodes, 'close'> } }
}

/**
 * The service nodes to test with: in a browser those that karma.conf.cjs started, shared by all specs; in Node two that
 * are started now. Ask for them in `before`, close them in `after`.
 */
export async function serviceNodes(): Promise<ServiceNodes> {
  const given = (globalThis as KarmaGlobal).__karma__?.config.serviceNodes
  if (given !== undefined) return { ...given, close: async () => {} }
  const { startServiceNodes } = await import('./start-service-nodes.ts')
  return await startServiceNodes()
}
