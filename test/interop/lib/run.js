// Runs a command in a process group of its own, bounded in time; the group ends with it and with this process.
import { spawn } from 'node:child_process'

const groups = new Set()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    for (const pid of groups) kill(pid)
    process.exit(1)
  })
}

/**
 * @param {{ cwd: string, timeoutMs: number, env?: Record<string, string>, show?: boolean }} options - `show`: what it
 *   prints is shown as it comes
 * @returns {Promise<{ ok: boolean, text: string, seconds: string }>} `text` is what it printed, unless that was shown
 */
export function run(command, args, { cwd, timeoutMs, env, show = false }) {
  const started = Date.now()
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
      detached: true
    })
    let text = ''
    const done = (ok) => {
      clearTimeout(timer)
      groups.delete(child.pid)
      resolve({ ok, text, seconds: ((Date.now() - started) / 1000).toFixed(1) })
    }
    const timer = setTimeout(() => {
      text += `not done within ${timeoutMs / 1000} s\n`
      if (show) console.log(text)
      kill(child.pid)
    }, timeoutMs)
    if (child.pid !== undefined) groups.add(child.pid)
    child.stdout?.on('data', (data) => (text += data))
    child.stderr?.on('data', (data) => (text += data))
    child.once('error', (error) => {
      text += `${error.message}\n`
      done(false)
    })
    child.once('close', (status) => {
      // whatever it has left behind
      kill(child.pid)
      done(status === 0)
    })
  })
}

function kill(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // the group is gone
  }
}
