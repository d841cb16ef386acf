// What a bundle consists of: node scripts/bundle-report.js waku-light/store StoreClient
// Prints minified bytes by package, and by file for our own, largest first; then the brotli bytes of the whole.
import { bundleWithEsbuild } from './lib/bundle.js'

const [specifier = 'waku-light', ...names] = process.argv.slice(2)
const { bytes, brotliBytes, files } = await bundleWithEsbuild({
  [specifier]: names.length > 0 ? names : ['*']
})
const parts = new Map()
for (const [file, size] of files) {
  const part = file.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? file
  parts.set(part, (parts.get(part) ?? 0) + size)
}
for (const [part, size] of [...parts].sort(([, a], [, b]) => b - a)) {
  console.log(`${String(size).padStart(8)}  ${part}`)
}
console.log(`${String(bytes).padStart(8)}  in all; ${brotliBytes} with brotli`)
