/**
 * Runs the examples of a page as its reader would. Blocks marked `sh run`, `js run` and `html run` run in order, in one
 * folder and with the same variables. A block marked `json answer` behind one shows (a part of) what comes back.
 *
 * In a shown answer a number under a name of `changing` stands for any number, the same one for the same. A date-time
 * stands for any. A text ends at `…` where the rest doesn't matter. Members that aren't shown may be there.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { startCurl } from './curl.ts'

export interface Example {
  readonly line: number
  readonly language: string
  readonly code: string
  readonly answer?: { readonly status: number | undefined; readonly json: unknown }
}

interface Answer {
  /** Undefined for what a program printed. */
  readonly status: number | undefined
  readonly text: string
}

/** A fence at the begin of a line, with its language, what it is marked as, and a status. */
const fence = /^```(\w+) (run|answer)(?: (\d{3}))?\n([\s\S]*?)^```$/gm

export function examplesOf(page: string): Example[] {
  const examples: Example[] = []
  for (const { 1: language, 2: mark, 3: status, 4: code, index } of page.matchAll(fence)) {
    const line = page.slice(0, index).split('\n').length
    if (mark === 'run') {
      examples.push({ line, language: language!, code: code! })
      continue
    }
    const last = examples.pop()
    if (last === undefined || last.answer) throw new Error(`line ${line}: an answer to nothing`)
    const answer = { status: status === undefined ? undefined : Number(status), json: JSON.parse(code!) }
    examples.push({ ...last, answer })
  }
  return examples
}

export interface Reader {
  /** Runs one example and answers what came back, the last of it last. */
  follow(example: Example): Promise<readonly Answer[]>
  close(): void
}

/** How `npx svc` is run. */
export interface SvcProgram {
  readonly file: string
  readonly environment: Readonly<Record<string, string>>
}

/** @param dev what stands in `.data/dev.json`  @param addresses from those of the page to those of the test */
export async function makeReader(
  folder: string,
  dev: Record<string, unknown>,
  addresses: Record<string, string>,
  svc: SvcProgram,
): Promise<Reader> {
  const programs = join(folder, 'bin')
  const answers = join(folder, 'answers')
  mkdirSync(join(folder, '.data'), { recursive: true })
  mkdirSync(programs)
  writeFileSync(join(folder, '.data/dev.json'), JSON.stringify(dev))
  const curl = await startCurl({ addresses, answersFile: answers })
  writeFileSync(join(programs, 'curl'), curl.program)
  chmodSync(join(programs, 'curl'), 0o755)
  // The page's workspace is the only one of its reader, but not of the test.
  const settings = Object.entries(svc.environment).map(([name, value]) => `${name}='${value}'`)
  const words = `shift; exec "${process.execPath}" "${svc.file}" "$@" --workspace ${dev['workspace_id']}`
  writeFileSync(join(programs, 'npx'), `#!/bin/sh\nexport ${settings.join(' ')}\n${words}\n`)
  chmodSync(join(programs, 'npx'), 0o755)
  const env = {
    PATH: [programs, dirname(process.execPath), process.env['PATH']].join(delimiter),
    DOC_ANSWERS: answers,
  }

  function withRealAddresses(code: string): string {
    return Object.entries(addresses).reduce((text, [shown, real]) => text.replaceAll(shown, real), code)
  }

  /** The program that an example is, for bash. */
  function scriptOf({ language, code }: Example): string {
    if (language === 'sh') return code
    const isPage = language === 'html'
    const program = isPage ? /<script>([\s\S]*)<\/script>/.exec(code)![1]! : code
    const file = join(folder, 'example.mjs')
    writeFileSync(
      file,
      (isPage ? browser : '') + withRealAddresses(program).replaceAll('svc_pk_…', String(dev['tracking_key'])),
    )
    return `node ${file}`
  }

  return {
    close: curl.close,
    async follow(example) {
      rmSync(answers, { force: true })
      // Variables pass from block to block; nobody has to wait here for long, as the test does it.
      const script = `set -eu -o pipefail; set -a; [ ! -f variables ] || . ./variables
sleep() { command sleep 0.1; }
${scriptOf(example)}
export -p > variables`
      const child = spawn('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
      let printed = ''
      let complaint = ''
      child.stdout.on('data', (text) => (printed += text))
      child.stderr.on('data', (text) => (complaint += text))
      const [code] = await once(child, 'close')
      if (code !== 0) throw new Error(`line ${example.line} ended with ${code}: ${complaint}`)
      if (!existsSync(answers)) return printed === '' ? [] : [{ status: undefined, text: printed }]
      const lines = readFileSync(answers, 'utf8').trim().split('\n')
      return lines.map((line) => JSON.parse(line) as Answer)
    },
  }
}

/** A browser's globals for a page's script, as far as the examples use them. */
const browser = `
import { appendFileSync } from 'node:fs'
const location = { href: 'https://example.com/docs' }
const document = { referrer: 'https://www.google.com/', title: 'Docs' }
const fetch = async (...args) => {
  const response = await globalThis.fetch(...args)
  appendFileSync(process.env.DOC_ANSWERS, JSON.stringify({ status: response.status, text: await response.text() }) + '\\n')
  return response
}
`

const changing = new Set(['event_id', 'event_ids', 'id', 'workspace_id'])
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Where `actual` isn't what is `shown`, as sentences. `numbers` holds what changing numbers stand for in this page. */
export function differences(
  shown: unknown,
  actual: unknown,
  numbers: Map<number, number>,
  name = '',
  at = '$',
): string[] {
  const differs = [`${at} is ${JSON.stringify(actual)} and not ${JSON.stringify(shown)}`]
  if (Array.isArray(shown)) {
    if (!Array.isArray(actual) || actual.length !== shown.length) return differs
    return shown.flatMap((each, index) => differences(each, actual[index], numbers, name, `${at}[${index}]`))
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof actual !== 'object' || actual === null) return differs
    return Object.entries(shown).flatMap(([member, value]) =>
      differences(value, (actual as Record<string, unknown>)[member], numbers, member, `${at}.${member}`),
    )
  }
  if (typeof shown === 'number' && changing.has(name)) {
    if (typeof actual !== 'number') return differs
    if (!numbers.has(shown) && ![...numbers.values()].includes(actual)) numbers.set(shown, actual)
    return numbers.get(shown) === actual ? [] : differs
  }
  if (typeof shown === 'string' && typeof actual === 'string') {
    if (dateTime.test(shown)) return dateTime.test(actual) ? [] : differs
    if (shown.endsWith('…')) return actual.startsWith(shown.slice(0, -1)) ? [] : differs
  }
  return shown === actual ? [] : differs
}
