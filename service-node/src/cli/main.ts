import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { isWakuLightError } from 'waku-light/errors'
import { errorMessage } from '../errors.ts'
import { createServiceNode } from '../service-node.ts'
import { parseCommand, type RunCommand, UsageError } from './cli-options.ts'
import { HELP } from './help.ts'

const EXIT_FAILURE = 1
const EXIT_USAGE = 2

/**
 * The command line program.
 *
 * @param args - without program and script
 */
export async function main(args: string[]): Promise<void> {
  try {
    const command = parseCommand(args)
    if (command.kind === 'run') {
      await serve(command)
    } else {
      process.stdout.write(command.kind === 'help' ? HELP : `${readVersion()}\n`)
    }
  } catch (error) {
    process.stderr.write(`waku-light-service-node: ${errorMessage(error)}\n`)
    process.exitCode = isUsageError(error) ? EXIT_USAGE : EXIT_FAILURE
  }
}

async function serve({ options, logLevel }: RunCommand): Promise<void> {
  const logger = pino({ level: logLevel, base: undefined }, pino.destination({ fd: 2, sync: true }))
  // Registered first: a signal while starting ends the node as soon as it has started.
  const stopped = Promise.withResolvers<void>()
  process.once('SIGINT', () => stopped.resolve())
  process.once('SIGTERM', () => stopped.resolve())
  const node = await createServiceNode({ ...options, logger })
  process.stdout.write(`${node.multiaddrs.join('\n')}\n`)
  await stopped.promise
  await node.close()
}

/** An option can also be found wrong by the node itself. */
function isUsageError(error: unknown): boolean {
  return (
    error instanceof UsageError ||
    (isWakuLightError(error) && error.code === 'ERR_INVALID_ARGUMENT')
  )
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
