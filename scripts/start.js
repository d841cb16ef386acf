// `npm start`: messages travel from one service node to another, with every step checked and reported; then the example
// page. Uses the built packages by their public names, as everybody does.
import { basename, join } from 'node:path'
import { parseStartArgs, USAGE, UsageError } from './lib/start-args.js'
import { bold, CheckError, faint, note, shorten, step, verdict } from './lib/start-report.js'

const EXIT_USAGE = 2
const SIGNALS = { SIGINT: 130, SIGTERM: 143 }

const stop = new AbortController()
/** What has to be undone at the end, in reverse order. */
const cleanups = []

process.exitCode = await main()

async function main() {
  let options
  try {
    options = parseStartArgs(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`npm start: ${error.message} (see npm start -- --help)`)
    return EXIT_USAGE
  }
  if (options.help) {
    console.log(USAGE)
    return 0
  }
  listenForTheEnd()
  try {
    return await run(options)
  } catch (error) {
    if (stop.signal.aborted) {
      console.error(stop.signal.reason.message)
      return stop.signal.reason.exitCode
    }
    verdict(false, 'Something is wrong.')
    console.log(error instanceof CheckError ? error.message : (error.stack ?? String(error)))
    return 1
  } finally {
    await cleanUp()
  }
}

async function run({ once, nodes: remote }) {
  const { makeFolder, startNodes, travel } = await load()
  const { signal } = stop
  const started = performance.now()
  const isRemote = remote.length > 0

  const { folder, remove } = await makeFolder()
  cleanups.push(remove)

  const way =
    remote.length === 1
      ? 'into a service node and out again'
      : 'in at one service node, out of another'
  console.log(bold(`\nwaku-light: ${way}\n`))
  const ends = isRemote ? remoteEnds(remote) : await startOwn(startNodes, folder)
  // a room of its own where others may be
  const room = isRemote ? `start-${crypto.randomUUID().slice(0, 8)}` : 'lobby'
  const { notes } = await travel({ ends, room, isRemote, signal })
  for (const text of new Set(notes)) {
    note(text)
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const isRelayed = !notes.some((text) => text.includes('cannot relay'))
  verdict(
    isRelayed,
    isRelayed
      ? `All is well: nothing lost, nothing twice, everything in order (${seconds} s).`
      : 'Stored and read back, but not published: the node passes messages on to nobody.'
  )
  if (!isRelayed || once) {
    return isRelayed ? 0 : 1
  }
  await serve({ ends, room, folder })
  return 0
}

/** Says what is missing, where it would be a stack trace otherwise. */
async function load() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 13)) {
    throw new CheckError(
      `Node ${process.versions.node} is too old. Run \`npm start\`, which brings its own.`
    )
  }
  try {
    const { makeFolder, startNodes } = await import('./lib/start-nodes.js')
    const { travel } = await import('./lib/start-journey.js')
    return { makeFolder, startNodes, travel }
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CheckError(
      `The packages are not built: run \`npm run build\` first (${error.message}).`,
      { cause: error }
    )
  }
}

function remoteEnds(addresses) {
  return addresses.map((address, index) => ({
    name: addresses.length === 1 ? 'the node' : `node ${index + 1}`,
    address
  }))
}

async function startOwn(startNodes, folder) {
  return await step('Two service nodes, joined by relay', async (detail) => {
    const { nodes, ends, files, close } = await startNodes(folder)
    cleanups.push(close)
    nodes.forEach(({ peerId }, index) => {
      const { name, address } = ends[index]
      detail(
        `${name.padEnd(6)} ${shorten(peerId)} on ${address.replace(/\/p2p\/.*/, '')}, archive ${basename(files[index])}`
      )
    })
    return ends
  })
}

async function serve({ ends, room, folder }) {
  const { servePage, pageUrl } = await import('./lib/start-page.js')
  console.log()
  const page = await step(
    'The example page, built and served',
    async () => await servePage(join(folder, 'page'))
  )
  cleanups.push(page.close)
  stop.signal.throwIfAborted()
  const nodes = ends.map(({ address }) => address)
  const where = nodes.length > 1 ? ', each at a node of their own' : ''
  console.log(`\n${bold(`Two people in one room${where}`)} ${faint('(open both)')}\n`)
  console.log(`  ${pageUrl(page.url, { room, nick: 'Ada', nodes: nodes.slice(0, 1) })}\n`)
  console.log(`  ${pageUrl(page.url, { room, nick: 'Grace', nodes: nodes.slice(-1) })}\n`)
  console.log(faint('Ctrl-C ends it.'))
  await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }))
  console.log('\nclosing')
}

function listenForTheEnd() {
  for (const [name, exitCode] of Object.entries(SIGNALS)) {
    process.on(name, () => {
      // asked a second time: whatever still hangs is left behind
      if (stop.signal.aborted) process.exit(exitCode)
      stop.abort(Object.assign(new Error(`ended by ${name}`), { exitCode }))
    })
  }
  // whoever read this has gone, as in `npm start | head`
  process.stdout.on('error', () =>
    stop.abort(Object.assign(new Error('the output was closed'), { exitCode: 1 }))
  )
  if (process.env.npm_lifecycle_event !== undefined) {
    // npm passes SIGTERM on to its shell only; with that gone, nobody would end this
    const parent = process.ppid
    setInterval(() => {
      if (process.ppid !== parent && !stop.signal.aborted) process.emit('SIGTERM')
    }, 1000).unref()
  }
}

async function cleanUp() {
  for (const undo of cleanups.reverse()) {
    try {
      await undo()
    } catch (error) {
      console.error(`not closed cleanly: ${error.message}`)
      process.exitCode = 1
    }
  }
}
