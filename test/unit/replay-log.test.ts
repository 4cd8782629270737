import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { CommandFailed } from '../../cli/command.ts'
import { parseLogLine, urlOf } from '../../cli/replay/log-line.ts'
import { isPageRequest } from '../../cli/replay/page-request.ts'
import { openLines } from '../../cli/replay/read-lines.ts'
import { makeReorderBuffer } from '../../cli/replay/reorder-buffer.ts'
import { surveyLog } from '../../cli/replay/survey.ts'
import { chooseTiming } from '../../cli/replay/timing.ts'
import { logLineBytesMax } from '../../schemas/limits/event-limits.ts'
import { setUpFolder } from '../support/test-folder.ts'

const folder = setUpFolder()

const file = (name: string, bytes: string | Buffer) => {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}
const entry = (request = 'GET / HTTP/1.1', status = 200, rest = '"-" "Mozilla/5.0"', address = '192.0.2.7') =>
  `${address} - - [17/May/2015:10:05:03 +0000] "${request}" ${status} 12 ${rest}`

describe('a line of the Combined Log Format', () => {
  test('is read with its time in UTC', () => {
    const line = '192.0.2.7 - ada [17/May/2015:10:05:03 -0230] "GET /a?b=c HTTP/1.1" 304 - "http://x.test/" "A B/1.0"'
    expect(parseLogLine(line)).toEqual({
      address: '192.0.2.7',
      time: Date.UTC(2015, 4, 17, 12, 35, 3),
      method: 'GET',
      target: '/a?b=c',
      status: 304,
      referrer: 'http://x.test/',
      agent: 'A B/1.0',
    })
  })

  test.each([
    [
      '2001:db8::1 - ada l [17/May/2015:10:05:03 +0000] "GET / HTTP/2.0" 200 1 "-" "-" "198.51.100.1" 0.003',
      { address: '2001:db8::1', referrer: '', agent: '', target: '/' },
    ],
    [
      entry('GET / HTTP/1.1', 200, String.raw`"http://x.test/\xc3\xa9" "a \"b\" \\ \x00 c"`),
      { referrer: 'http://x.test/é', agent: 'a "b" \\ \uFFFD c' },
    ],
    [`shop.example.com:443 ${entry()}`, { address: '192.0.2.7', target: '/' }],
    [`shop.example.com:443 ${entry(undefined, 200, undefined, '2001:db8::1')}`, { address: '2001:db8::1' }],
  ])(
    'may have IPv6, users with blanks, a virtual host, fields behind the agent, and escaped bytes: %s',
    (line, expected) => {
      expect(parseLogLine(line)).toMatchObject(expected)
    },
  )

  test('is cut where the interface would refuse it for its length', () => {
    const long = 'é'.repeat(3_000)
    const line = parseLogLine(entry(`GET /?q=${long} HTTP/1.1`, 200, `"https://x.test/${long}" "${long}"`))!
    expect([[...line.referrer].length, [...line.agent].length]).toEqual([2_048, 1_024])
    expect([...urlOf(line, 'https://x.test')]).toHaveLength(2_048)
  })

  test('is a line without a page where the request is no HTTP', () => {
    const pageless = ['OPTIONS * HTTP/1.1', 'CONNECT example.net:443 HTTP/1.1']
    for (const request of [...pageless, '-', '', String.raw`\x16\x03\x01`, 'GET', 'hello there world']) {
      const line = parseLogLine(entry(request))
      expect(line).toMatchObject({ method: '', target: '' })
      expect(isPageRequest(line!)).toBe(false)
    }
  })

  test('is refused where it is anything else', () => {
    const whole = entry()
    for (let end = 0; end < whole.length; end++) expect(parseLogLine(whole.slice(0, end))).toBeUndefined()
    const odd = [whole.replace('May', 'Mai'), whole.replace('17/', '32/'), whole.replace(':10:', ':24:')]
    const unclear = ['-', '192.0.2.7, 10.0.0.1', '192.0.2.7,10.0.0.1', 'shop.example.com 192.0.2.7', '192.0.2.7:50001']
    odd.push(...unclear.map((address) => entry(undefined, 200, undefined, address)))
    for (const line of [...odd, '{"a":1}', '"'.repeat(10_000)]) expect(parseLogLine(line)).toBeUndefined()
  })
})

test('a page is what was opened by GET, found, and has no ending of an asset', () => {
  const is = (request: string, status = 200) => isPageRequest(parseLogLine(entry(request, status))!)
  for (const page of ['/', '/a', '/a/', '/a.html', '/a.XHTML?x=1.png', '/v1.2', '/?x=/b.css', '/a.php']) {
    expect([page, is(`GET ${page} HTTP/1.1`)]).toEqual([page, true])
  }
  for (const asset of ['/a.png', '/style2.css?v=3', '/favicon.ico', '/robots.txt', '/a/b.tar.gz', '/x.js#a']) {
    expect([asset, is(`GET ${asset} HTTP/1.1`)]).toEqual([asset, false])
  }
  expect(is('GET / HTTP/1.1', 304)).toBe(true)
  for (const status of [206, 301, 302, 404, 500]) expect(is('GET / HTTP/1.1', status)).toBe(false)
  for (const method of ['HEAD', 'POST', 'OPTIONS']) expect(is(`${method} / HTTP/1.1`)).toBe(false)
})

describe('reading lines', () => {
  const collect = async (path: string) => {
    const reader = await openLines(path)
    const lines: string[] = []
    for await (const chunk of reader.lines) lines.push(...chunk)
    return { lines, tooLong: reader.tooLong() }
  }

  test('gives the same lines of a plain file, a gzipped one and one of several gzip members', async () => {
    const expected = { lines: ['a', '', 'b é', 'last'], tooLong: 0 }
    expect(await collect(file('plain.log', 'a\n\r\nb é\r\nlast'))).toEqual(expected)
    expect(await collect(file('one.gz', gzipSync('a\n\nb é\nlast\n')))).toEqual(expected)
    const members = Buffer.concat([gzipSync('a\n\nb '), gzipSync('é\nlast')])
    expect(await collect(file('two.gz', members))).toEqual(expected)
  })

  test('drops a line beyond the bound, wherever it stands, and goes on behind it', async () => {
    const long = 'x'.repeat(logLineBytesMax + 1)
    const longest = 'y'.repeat(logLineBytesMax)
    const path = file('long.log', `a\n${long}\nb\n${'z'.repeat(1_000_000)}\nc\n${longest}\n${long}`)
    expect(await collect(path)).toEqual({ lines: ['a', 'b', 'c', longest], tooLong: 3 })
  })

  test('says which file is missing, and which one ends too early', async () => {
    await expect(collect(join(folder, 'none.log'))).rejects.toThrow(/there is no file .*none\.log/)
    const cut = gzipSync('a\n'.repeat(1000)).subarray(0, 20)
    await expect(collect(file('cut.gz', cut))).rejects.toThrow(CommandFailed)
  })
})

test('a search engine that most visitors come from is not the site', async () => {
  const from = (referrer: string) => entry('GET /a HTTP/1.1', 200, `"${referrer}" "M"`)
  const survey = async (name: string, ...lines: string[]) =>
    (await surveyLog(file(name, lines.join('\n')), new AbortController().signal, isPageRequest)).site
  const searches = [from('https://www.google.com/'), from('https://www.google.com/'), from('https://duckduckgo.com/')]
  expect(await survey('searched.log', ...searches)).toBeUndefined()
  expect(await survey('own-too.log', ...searches, from('https://own.test/b'))).toBe('https://own.test')
})

test('lines out of order by less than the window leave in order, and a later one is passed on', () => {
  const inOrder = makeReorderBuffer<number>(100, 1000)
  const out: number[] = []
  const times = Array.from({ length: 500 }, (_, at) => at * 10 - (at % 7) * 13)
  for (const time of times) out.push(...inOrder.push(time, time))
  out.push(...inOrder.push(-5000, -5000), ...inOrder.end())
  expect(out.filter((time) => time !== -5000)).toEqual([...times].sort((a, b) => a - b))
  expect(out).toContain(-5000)
})

test('no more than the bound wait for their order', () => {
  const inOrder = makeReorderBuffer<number>(1e9, 10)
  const out: number[] = []
  for (let time = 0; time < 100; time++) out.push(...inOrder.push(time, time))
  expect(out.length).toBeGreaterThanOrEqual(89)
  expect([...out, ...inOrder.end()]).toEqual(Array.from({ length: 100 }, (_, at) => at))
})

describe('the placing in time', () => {
  const hour = 3_600_000
  const now = Date.UTC(2026, 10, 20)
  const first = Date.UTC(2015, 4, 17)
  const choice = { shiftTo: undefined, speed: 'max', isImport: false, now } as const
  const span = (hours: number) => ({ firstTime: first, lastTime: first + hours * hour })

  test('times that the public interface would refuse are refused before anything is sent', () => {
    expect(() => chooseTiming(span(1), choice)).toThrow(/--shift-to-now/)
    expect(() => chooseTiming(span(1), { ...choice, shiftTo: now - 80 * hour })).toThrow(CommandFailed)
    expect(chooseTiming(span(1), { ...choice, isImport: true }).occurredAt(first)).toBe(first)
  })

  test('at a speed, the log begins now and each request is due when it would have come', () => {
    const timing = chooseTiming(span(2), { ...choice, speed: 2 })
    expect(timing.dueAt(first)).toBe(now)
    expect(timing.dueAt(first + 2 * hour)).toBe(now + hour)
    expect(timing.occurredAt(first + 2 * hour)).toBe(now + hour)
    expect(chooseTiming(span(2), { ...choice, speed: 2, shiftTo: now }).occurredAt(first + 2 * hour)).toBe(now)
  })
})
