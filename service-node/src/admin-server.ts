import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorMessage, ServiceNodeError } from './errors.ts'
import type { Metrics } from './metrics.ts'

/** What `GET /health` says. */
export interface Health {
  readonly status: 'ok' | 'failing'
  readonly peerId: string
  readonly multiaddrs: readonly string[]
  readonly connections: number
  readonly messages: number
  readonly relayPeers: Readonly<Record<string, number>>
  /** Why it is failing. */
  readonly reason?: string
}

/** Settings of an {@link AdminServer}. */
export interface AdminServerInit {
  readonly host: string
  readonly port: number
  readonly metrics: Metrics
  health(): Health
}

/** Serves `GET /health` and `GET /metrics` over plain HTTP. */
export class AdminServer {
  readonly #server: Server
  readonly #init: AdminServerInit

  private constructor(server: Server, init: AdminServerInit) {
    this.#server = server
    this.#init = init
  }

  /** @throws {@link ServiceNodeError} `ERR_LISTEN` if the port is not to be had */
  static async start(init: AdminServerInit): Promise<AdminServer> {
    const server = createServer((request, response) => {
      answer(request.method, request.url, response, init).catch((error: Error) =>
        response.destroy(error)
      )
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => {
        reject(
          new ServiceNodeError('ERR_LISTEN', `admin port ${init.port}: ${errorMessage(cause)}`, {
            cause
          })
        )
      })
      server.listen(init.port, init.host, resolve)
    })
    return new AdminServer(server, init)
  }

  /** Where it listens. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    const { host } = this.#init
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  }

  /** Stops listening and ends open connections. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }
}

async function answer(
  method: string | undefined,
  url: string | undefined,
  response: ServerResponse,
  { health, metrics }: AdminServerInit
): Promise<void> {
  const path = url?.split('?')[0]
  if (method !== 'GET' || (path !== '/health' && path !== '/metrics')) {
    response.writeHead(method === 'GET' ? 404 : 405).end()
  } else if (path === '/health') {
    const body = health()
    response.writeHead(body.status === 'ok' ? 200 : 503, { 'content-type': 'application/json' })
    response.end(`${JSON.stringify(body)}\n`)
  } else {
    const text = await metrics.text()
    response.writeHead(200, { 'content-type': metrics.contentType }).end(text)
  }
}
