#!/usr/bin/env node
// Old syntax, and imports that every Node has: a bin that is started by its path runs on the machine's own Node, whatever
// that is. libp2p needs 22.13; on an older one this starts itself again on the Node that the project has locked, if any.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED = [22, 13]

function isRecent(version) {
  const parts = version.split('.').map(Number)
  return parts[0] > NEEDED[0] || (parts[0] === NEEDED[0] && parts[1] >= NEEDED[1])
}

function lockedNode() {
  const name =
    'node-' + (process.platform === 'win32' ? 'win' : process.platform) + '-' + process.arch
  try {
    const root = dirname(createRequire(import.meta.url).resolve(name + '/package.json'))
    const file = join(root, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return existsSync(file) ? file : undefined
  } catch (_error) {
    return undefined
  }
}

function restart(node) {
  const args = process.execArgv.concat([fileURLToPath(import.meta.url)], process.argv.slice(2))
  const env = Object.assign({}, process.env, { WAKU_LIGHT_NODE_RESTARTED: '1' })
  const child = spawn(node, args, { stdio: 'inherit', env: env })
  const signals = ['SIGINT', 'SIGTERM']
  signals.forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal)
    })
  })
  child.on('error', function (error) {
    console.error(error.message)
    process.exit(1)
  })
  child.on('exit', function (code) {
    process.exit(code === null ? 1 : code)
  })
}

if (isRecent(process.versions.node)) {
  import('#main')
    .then(function (module) {
      return module.main(process.argv.slice(2))
    })
    .catch(function (error) {
      const isUnbuilt =
        error !== null && typeof error === 'object' && error.code === 'ERR_MODULE_NOT_FOUND'
      console.error(
        isUnbuilt ? error.message + '\nIn a checkout, run `npm run build` first.' : error
      )
      process.exit(1)
    })
} else {
  const node = process.env.WAKU_LIGHT_NODE_RESTARTED === undefined ? lockedNode() : undefined
  if (node === undefined) {
    console.error(
      'waku-light-service-node needs Node.js ' +
        NEEDED.join('.') +
        ' or newer, this is ' +
        process.versions.node
    )
    process.exit(1)
  } else {
    restart(node)
  }
}
