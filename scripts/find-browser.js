// Finds the browsers that tests run in. `node scripts/find-browser.js` prints them.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CHROMIUM_NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome'
]
const CHROMIUM_PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'
]
const FIREFOX_NAMES = ['firefox-esr', 'firefox']

/** What the tests start Chromium with: headless, quiet, and good for root in a container. */
export const CHROMIUM_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage'
]

/** Path of Chromium or Chrome: `CHROME_BIN`, one that is installed, or on Debian as root its package, installed now. */
export function findChromium() {
  return (
    fromEnvironment('CHROME_BIN') ??
    findOnPath(CHROMIUM_NAMES) ??
    CHROMIUM_PLACES.find((place) => existsSync(place)) ??
    installChromium()
  )
}

/** Path of Firefox: `FIREFOX_BIN` or one that is installed; undefined if there is none. */
export function findFirefox() {
  return fromEnvironment('FIREFOX_BIN') ?? findOnPath(FIREFOX_NAMES)
}

function fromEnvironment(variable) {
  const value = process.env[variable]
  if (value === undefined || value === '') return undefined
  if (!isExecutable(value)) throw new Error(`${variable} is ${value}, which cannot be executed`)
  return value
}

function findOnPath(names) {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutable)
    if (found !== undefined) return found
  }
  return undefined
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function installChromium() {
  const debian = existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get')
  if (!debian || process.getuid?.() !== 0) {
    throw new Error(
      `no Chromium or Chrome found. Install one (${debian ? 'sudo apt-get install chromium' : howToInstall()}) ` +
        'or set CHROME_BIN to the path of one.'
    )
  }
  console.error('no browser found: installing the package chromium')
  apt('update')
  apt('install', '--yes', '--no-install-recommends', 'chromium')
  const found = findOnPath(CHROMIUM_NAMES)
  if (found === undefined)
    throw new Error('chromium was installed, but is not on the PATH; set CHROME_BIN')
  return found
}

function apt(...args) {
  const result = spawnSync('apt-get', ['-qq', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe']
  })
  if (result.status !== 0) {
    throw new Error(
      `apt-get ${args.join(' ')} failed (${result.error?.message ?? result.status}):\n${result.stderr ?? ''}` +
        '\nInstall Chromium by hand or set CHROME_BIN.'
    )
  }
}

function howToInstall() {
  if (process.platform === 'darwin') return 'brew install --cask chromium'
  if (process.platform === 'win32') return 'winget install Google.Chrome'
  const id = existsSync('/etc/os-release')
    ? readFileSync('/etc/os-release', 'utf8').match(/^ID=(.*)$/m)?.[1]
    : ''
  return id === 'fedora'
    ? 'dnf install chromium'
    : id === 'alpine'
      ? 'apk add chromium'
      : 'the package chromium'
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(
      `Chromium: ${findChromium()}\nFirefox: ${findFirefox() ?? 'none (its specs are skipped)'}`
    )
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
