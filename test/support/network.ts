/**
 * All of the internet that a browser's context sees. A proxy serves made-up sites by their host, passes on requests for
 * the product, refuses the rest, and keeps every request. So what a page sent is known whatever became of the page, and
 * answers can be late, wrong or lost.
 */
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { listening } from './listening.ts'

export interface SeenRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Undefined until it is answered; 0: the connection was cut. */
  status: number | undefined
}

export interface SiteAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly afterMs?: number
}

/** The proxy's treatment of a request: `lose` passes it on, and cuts the connection in place of the answer. */
type Fate = 'pass' | 'cut' | 'lose' | SiteAnswer
export type Site = (request: SeenRequest) => SiteAnswer

export interface Network {
  readonly port: number
  /** In the order in which they came. */
  readonly seen: readonly SeenRequest[]
  /** Requests that wait for their answer. */
  readonly pending: number
  /** From now on this decides; undefined: as if nothing was said. */
  decide: (request: SeenRequest) => Fate | undefined | Promise<Fate | undefined>
  /** Makes or replaces a site. */
  serve(host: string, site: Site): void
  close(): Promise<void>
}

const unreachable: SiteAnswer = { status: 502, body: 'no such site' }

/** @param services ports by host: what is asked of that host goes there */
export async function openNetwork(services: Readonly<Record<string, number>>): Promise<Network> {
  const sites = new Map<string, Site>()
  const seen: SeenRequest[] = []
  const agent = new Agent({ keepAlive: true })

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await incoming.toArray().catch(() => [])) as Buffer[]
    const known: SeenRequest = {
      method: incoming.method!,
      url: new URL(incoming.url!),
      headers: incoming.headers,
      body: Buffer.concat(body).toString(),
      status: undefined,
    }
    seen.push(known)
    const { status, headers, body: content, afterMs } = await resultOf(known)
    if (afterMs !== undefined) await wait(afterMs)
    known.status = status ?? 200
    if (known.status === 0) return void response.destroy()
    response.writeHead(known.status, headers)
    response.end(known.method === 'HEAD' ? undefined : content)
  }

  async function resultOf(known: SeenRequest): Promise<SiteAnswer> {
    const fate = (await network.decide(known)) ?? 'pass'
    if (typeof fate === 'object') return fate
    if (fate === 'cut') return { status: 0 }
    const port = services[known.url.host]
    const passed = port === undefined ? sites.get(known.url.host)?.(known) : await passOn(known, port, agent)
    return fate === 'lose' ? { status: 0 } : (passed ?? unreachable)
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy())
  })
  // A request over TLS can't be read here: it is seen, and goes nowhere.
  server.on('connect', ({ method, url, headers }, socket) => {
    seen.push({ method: method!, url: new URL(`https://${url}`), headers, body: '', status: 0 })
    socket.destroy()
  })
  const network: Network = {
    port: (await listening(server)).port,
    seen,
    get pending() {
      return seen.filter(({ status }) => status === undefined).length
    },
    decide: () => undefined,
    serve: (host, site) => void sites.set(host, site),
    close: async () => {
      server.closeAllConnections()
      agent.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return network
}

function passOn({ method, url, headers, body }: SeenRequest, port: number, agent: Agent): Promise<SiteAnswer> {
  const passed = { ...headers, host: url.host, connection: 'keep-alive' }
  delete (passed as IncomingHttpHeaders)['proxy-connection']
  return new Promise((resolve, reject) => {
    const path = url.pathname + url.search
    const asked = request({ host: '127.0.0.1', port, method, path, headers: passed, agent }, async (answered) => {
      const content = Buffer.concat((await answered.toArray()) as Buffer[])
      const kept = Object.entries(answered.headers).filter(
        ([name]) => !/^(connection|keep-alive|transfer-encoding)$/.test(name),
      )
      resolve({
        status: answered.statusCode!,
        headers: Object.fromEntries(kept) as Record<string, string>,
        body: content,
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
