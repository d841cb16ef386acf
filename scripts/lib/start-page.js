// Builds the example page and serves it on loopback.
import { join } from 'node:path'
import { build, preview } from 'vite'
import { root } from './package.js'
import { CheckError } from './start-report.js'

/**
 * @param {string} outDir - where the built page goes
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function servePage(outDir) {
  const config = {
    root: join(root, 'examples/chat'),
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    build: { outDir, emptyOutDir: true, chunkSizeWarningLimit: 1000 },
    preview: { host: '127.0.0.1', port: 0, open: false }
  }
  try {
    await build(config)
    const server = await withoutOwnEnding(() => preview(config))
    return {
      url: `http://127.0.0.1:${server.httpServer.address().port}/`,
      close: () => server.close()
    }
  } catch (error) {
    throw new CheckError(`The example page cannot be served: ${error.message}`, { cause: error })
  }
}

/** Vite ends the process by itself on SIGTERM, before anything else can be closed; here it is asked to close. */
async function withoutOwnEnding(start) {
  const watched = [
    [process, 'SIGTERM'],
    [process.stdin, 'end']
  ].map(([emitter, event]) => ({ emitter, event, before: emitter.listeners(event) }))
  const server = await start()
  for (const { emitter, event, before } of watched) {
    for (const listener of emitter.listeners(event)) {
      if (!before.includes(listener)) emitter.off(event, listener)
    }
  }
  return server
}

/** The page's address with everything that it needs to join. */
export function pageUrl(base, { room, nick, nodes }) {
  const url = new URL(base)
  url.search = new URLSearchParams([
    ['room', room],
    ['nick', nick],
    ...nodes.map((node) => ['node', node])
  ])
    .toString()
    .replaceAll('%2F', '/')
  return url.href
}
