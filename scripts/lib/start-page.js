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
    const server = await preview(config)
    return {
      url: `http://127.0.0.1:${server.httpServer.address().port}/`,
      close: () => server.close()
    }
  } catch (error) {
    throw new CheckError(`The example page cannot be served: ${error.message}`, { cause: error })
  }
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
