import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { selfSignedCertificate } from './helpers/certificate.ts'
import { BODY } from './helpers/light-node.ts'
import { startScriptedNode, stopScriptedNodes } from './helpers/scripted-node.ts'

describe('createLightNode over wss', () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'waku-light-'))
  })

  after(async () => {
    await rm(folder, { recursive: true })
    await stopScriptedNodes()
  })

  async function ask(addresses: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
    const child = fork(new URL('./helpers/asking-process.ts', import.meta.url), addresses, {
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, ...env }
    })
    const [[answers], ended] = await Promise.all([once(child, 'message'), once(child, 'exit')])
    expect(ended).to.deep.equal([0, null])
    return answers
  }

  it('asks a node whose certificate is trusted, and no other', async () => {
    const { cert, key } = selfSignedCertificate()
    const file = join(folder, 'cert.pem')
    await writeFile(file, cert)
    const service = await startScriptedNode({ tls: { cert, key } })
    const addresses = ['wss', 'tls/ws'].map(
      (end) => `/ip4/127.0.0.1/tcp/${service.port}/${end}/p2p/${service.peerId}`
    )
    const trusting = ask(addresses, { NODE_EXTRA_CA_CERTS: file })
    expect(await ask(addresses, {})).to.deep.equal(['ERR_CONNECTION', 'ERR_CONNECTION'])
    expect(await trusting).to.deep.equal([Array.from(BODY), Array.from(BODY)])
  }).timeout(20_000)
})
