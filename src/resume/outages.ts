import type { ResumeNode } from './components.ts'

/**
 * Tells each time that a node is connected after all were lost.
 *
 * @param onConnect - told each time that a node is connected at all, after that
 * @returns ends this
 */
export function watchOutages(
  node: ResumeNode | undefined,
  onReconnect: () => void,
  onConnect?: () => void
): () => void {
  const connected = new Set(node?.connectedPeers)
  let isLost = false
  return (
    node?.onConnectionChange?.((change) => {
      if (change.connected) {
        connected.add(change.peerId)
        if (isLost) {
          isLost = false
          onReconnect()
        }
        onConnect?.()
      } else {
        connected.delete(change.peerId)
        isLost ||= connected.size === 0
      }
    }) ?? (() => undefined)
  )
}
