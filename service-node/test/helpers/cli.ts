import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
export const CLI = fileURLToPath(new URL('../../cli.js', import.meta.url))
/** Runs the sources, not what was built. */
export const NODE_ARGS = ['--import=tsx', '--conditions=waku-light-source']

export interface Run {
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
}

/** Runs the command to its end. */
export async function runCli(args: string[]): Promise<Run> {
  const child = spawn(process.execPath, [...NODE_ARGS, CLI, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (data) => {
    output.stdout += data
  })
  child.stderr.on('data', (data) => {
    output.stderr += data
  })
  const [code] = await once(child, 'close')
  return { ...output, code }
}
