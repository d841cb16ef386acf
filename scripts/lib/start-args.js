// What `npm start` was asked for.
import { parseArgs } from 'node:util'
import { multiaddr } from '@multiformats/multiaddr'

export const USAGE = `npm start [-- OPTIONS]

Starts two service nodes joined by relay, sends 30 messages from one end to the
other, checks and reports what came out, then serves the example page until Ctrl-C.

  --once             stop after the report (exit status 0 if all is well, else 1)
  --node MULTIADDR   use this service node instead; its cluster and shards are
                     learnt from it. Given twice: push to the first, read from
                     the second
  --help             this text`

/** Somebody typed something that does not exist. */
export class UsageError extends Error {}

/**
 * @param {readonly string[]} argv - without the program
 * @returns {{ once: boolean, help: boolean, nodes: string[] }}
 * @throws {UsageError} in one line
 */
export function parseStartArgs(argv) {
  let values
  try {
    ;({ values } = parseArgs({
      args: argv,
      allowPositionals: false,
      options: {
        once: { type: 'boolean', default: false },
        node: { type: 'string', multiple: true, default: [] },
        help: { type: 'boolean', short: 'h', default: false }
      }
    }))
  } catch (error) {
    throw new UsageError(error.message.split(/\. |\n/, 1)[0].replace(/\.$/, ''))
  }
  for (const node of values.node) {
    try {
      multiaddr(node)
    } catch (error) {
      throw new UsageError(`--node ${node}: not a multiaddr (${error.message})`)
    }
  }
  return { once: values.once, help: values.help, nodes: values.node }
}
