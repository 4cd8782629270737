/**
 * A platform's interface on this machine. Its routes answer as the real one does, each request is written down, and
 * tests can stand in its way. It refuses requests that the real one would refuse; a request that no client should ever
 * send is a `fault`.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import busboy from 'busboy'
import { type HostsHere, hostsHere } from './hosts-here.ts'
import { listening } from './listening.ts'

export interface Asking {
  /**
   * `POST /api/v1/statuses`: ids in the path, URNs, or numbers of two digits or more, alone or two, are `:id`. So are a
   * bot with its token, and a webhook with its token and message.
   */
  readonly step: string
  readonly id: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly token: string | undefined
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
  readonly json: any
  readonly bytes: Buffer
  readonly form: SentForm | undefined
}

interface SentForm {
  readonly fields: Readonly<Record<string, string>>
  readonly files: readonly SentFile[]
  /** The only one. */
  readonly file: SentFile | undefined
}

export interface SentFile {
  /** Name of its field. */
  readonly name: string
  readonly bytes: Buffer
  readonly contentType: string
  readonly filename: string
}

export interface Answered {
  readonly status: number
  /** JSON, or a text that is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** In place of, or around, what a route does. `hang before` never does it, `hang after` does it and never answers. */
export type Hindrance = 'hang before' | 'hang after' | 'cut before' | 'cut after' | Answered

export type Routes = Readonly<Record<string, (asking: Asking) => Answered | Promise<Answered>>>

export interface ProviderServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly asked: Asking[]
  readonly faults: string[]
  /** Undefined: the request is answered as usual. */
  hinder: (asking: Asking) => Hindrance | undefined | Promise<Hindrance | undefined>
  close(): Promise<void>
}

/** Reached at the platform's own hosts. */
export type HostedServer = ProviderServer & Pick<HostsHere, 'agent' | 'nodeOptions'>

/** Answers the next request of this step so; others as usual. */
export function answerOnce(server: ProviderServer, step: string, answer: Answered): void {
  server.hinder = (asking) => {
    if (asking.step !== step) return undefined
    server.hinder = () => undefined
    return answer
  }
}

export async function startProviderServer(routes: Routes): Promise<ProviderServer> {
  const http = createServer((request, response) => {
    void (async () => {
      const asking = await readAsking(request)
      server.asked.push(asking)
      const route = routes[asking.step]
      if (route === undefined) server.faults.push(`there is no ${asking.step}`)
      const hindrance = await server.hinder(asking)
      if (hindrance === 'hang before') return
      if (hindrance === 'cut before') return request.socket.destroy()
      const isReplaced = typeof hindrance === 'object'
      const answered = isReplaced
        ? hindrance
        : ((await route?.(asking)) ?? { status: 404, body: { error: 'Not found' } })
      if (hindrance === 'hang after') return
      if (hindrance === 'cut after') return request.socket.destroy()
      const { body = '' } = answered
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      response.writeHead(answered.status, { 'content-type': 'application/json; charset=utf-8', ...answered.headers })
      response.end(text)
    })().catch((error) => {
      server.faults.push(`a request can't be read: ${error}`)
      request.socket.destroy()
    })
  })
  const server: ProviderServer = {
    url: (await listening(http)).url,
    asked: [],
    faults: [],
    hinder: () => undefined,
    close: async () => {
      http.close()
      http.closeAllConnections()
    },
  }
  return server
}

interface Hosting {
  /** Those of the platform: while the server runs, requests to them come to it. */
  readonly hosts: RegExp
  /** Nothing listens there. */
  readonly isAway?: () => boolean
}

export async function startHostedServer(
  { hosts, isAway = () => false }: Hosting,
  routes: Routes,
): Promise<HostedServer> {
  const server = await startProviderServer(routes)
  const { close } = server
  const { end, ...reached } = hostsHere(hosts, server.url, isAway)
  return Object.assign(server, reached, {
    close: async () => {
      end()
      await close()
    },
  })
}

const idInPath =
  /(?<=\/)((?<=\/webhooks\/)\d+\/[\w-]+(?:\/messages\/\d+)?|\d{2,}(?:_\d+)?|urn%3A[^/]+|bot\d+:[\w-]+)(?=\/|$)/

async function readAsking(request: IncomingMessage): Promise<Asking> {
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const bytes = Buffer.concat(parts)
  const headers = request.headers as Record<string, string | undefined>
  const type = headers['content-type'] ?? ''
  let id = ''
  const path = pathname.replace(idInPath, (found) => {
    id = decodeURIComponent(found)
    return ':id'
  })
  return {
    step: `${request.method} ${path}`,
    id,
    query: searchParams,
    headers,
    bytes,
    token: /^Bearer (\S+)$/.exec(headers['authorization'] ?? '')?.[1],
    json: type.startsWith('application/json') ? JSON.parse(bytes.toString('utf8')) : undefined,
    form: type.startsWith('multipart/form-data') ? await readForm(bytes, headers) : undefined,
  }
}

async function readForm(bytes: Buffer, headers: Asking['headers']): Promise<SentForm> {
  const fields: Record<string, string> = {}
  const files: SentFile[] = []
  const parser = busboy({ headers: headers as Record<string, string>, defParamCharset: 'utf8' })
  parser.on('field', (name, value) => {
    fields[name] = value
  })
  parser.on('file', (name, stream, { filename, mimeType: contentType }) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      files.push({ name, bytes: Buffer.concat(chunks), contentType, filename: filename ?? '' })
    })
  })
  parser.end(bytes)
  await once(parser, 'close')
  return { fields, files, file: files.length === 1 ? files[0] : undefined }
}
