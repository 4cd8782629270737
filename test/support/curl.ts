/**
 * Stands for curl where the documentation's examples are run: takes the options that they use, and refuses any other.
 * The addresses of the examples become those of the test, and every answer is written down. It answers in the test's own
 * process: a process of Node for each request would take most of the examples' time.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, extname, resolve } from 'node:path'
import { listening } from './listening.ts'

export interface CurlOptions {
  /** From those of the page to those of the test. */
  readonly addresses: Readonly<Record<string, string>>
  /** Takes a line for each answer. */
  readonly answersFile: string
}

interface Outcome {
  readonly code: number
  /** Standard output, or the complaint. */
  readonly text: string
}

/** The program that the examples call: sends its folder and its words, each ended by a zero, and prints what comes back. */
const programOf = (port: number) => `#!/usr/bin/env bash
words=()
for word in "$@"; do
  [ "$word" = @- ] && word=$(cat)
  words+=("$word")
done
exec 3<>/dev/tcp/127.0.0.1/${port}
printf '%s\\0' "$#" "$PWD" "\${words[@]}" >&3
read -r code <&3
[ "$code" = 2 ] && exec >&2
cat <&3
exit "$code"
`

export async function startCurl(options: CurlOptions): Promise<{ program: string; close(): void }> {
  const server = createServer((socket) => {
    let received = ''
    socket.setEncoding('utf8').on('data', async (piece) => {
      received += piece
      const [count, cwd, ...words] = received.split('\0')
      if (words.length !== Number(count) + 1) return
      const { code, text } = await curl(words.slice(0, -1), cwd!, options).catch((error) => ({
        code: 2,
        text: String(error),
      }))
      socket.end(`${code}\n${text}`)
    })
    socket.on('error', () => {})
  })
  const { port } = await listening(server)
  return { program: programOf(port), close: () => void server.close() }
}

async function curl(args: string[], cwd: string, { addresses, answersFile }: CurlOptions): Promise<Outcome> {
  const headers = new Headers({ 'User-Agent': 'curl/8.0.0', Accept: '*/*' })
  let [url, method, data, file]: (string | undefined)[] = []
  let form: FormData | undefined
  while (args.length > 0) {
    const arg = args.shift()!
    if (arg === '-H') {
      const header = args.shift()!
      const colon = header.indexOf(':')
      headers.set(header.slice(0, colon), header.slice(colon + 1).trim())
    } else if (arg === '-X') method = args.shift()
    else if (arg === '-o') file = args.shift()
    else if (arg === '-F') {
      form ??= new FormData()
      addField(form, args.shift()!, cwd)
    } else if (arg === '-d') {
      // As curl does with its standard input: line breaks are left out.
      data = args.shift()!.replace(/[\r\n]/g, '')
      if (!headers.has('Content-Type')) headers.set('Content-Type', 'application/x-www-form-urlencoded')
    } else if (arg.startsWith('-') || url !== undefined)
      return { code: 2, text: `this stand-in for curl doesn't know ${arg}\n` }
    else url = arg
  }
  const [shown, real] = Object.entries(addresses).find(([address]) => url?.startsWith(address)) ?? []
  if (shown === undefined) return { code: 2, text: `${url} is no address of the examples\n` }
  const body = form ?? data
  const response = await fetch(real + url!.slice(shown.length), {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    ...(body !== undefined && { body }),
    redirect: 'manual',
  })
  if (file !== undefined) {
    writeFileSync(resolve(cwd, file), Buffer.from(await response.arrayBuffer()))
    return { code: response.ok ? 0 : 22, text: '' }
  }
  const text = await response.text()
  appendFileSync(answersFile, `${JSON.stringify({ status: response.status, text })}\n`)
  return { code: 0, text: `${text}\n` }
}

function addField(form: FormData, field: string, cwd: string): void {
  const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(field)!
  if (!value!.startsWith('@')) return form.set(name!, value!)
  const path = resolve(cwd, value!.slice(1))
  // As curl does: the type by the name.
  const types: Record<string, string> = { '.png': 'image/png', '.jpg': 'image/jpeg', '.mp4': 'video/mp4' }
  const type = types[extname(path)] ?? 'application/octet-stream'
  form.set(name!, new File([readFileSync(path)], basename(path), { type }))
}
