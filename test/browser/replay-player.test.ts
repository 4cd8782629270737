/** The dashboard's replays: the list, the player, and that nothing of a recording runs or reaches anything. */

import { createServer } from 'node:http'
import type { Frame, Page } from 'playwright-core'
import { expect, test, vi } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { askAnew, goBy, goWithin, look, setUpDashboard, violations } from '../support/dashboard.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'
import { listening } from '../support/listening.ts'
import {
  recordedChange as change,
  type MadeNode,
  recordedBegin,
  recordedElement,
  recordedText,
} from '../support/recorded-pages.ts'
import { insertChunks, pack } from '../support/replays.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1', sharesWorkspace: true })
const signIn = setUpDashboard({ stores, api, mine })

let nextNode = 100
const text = (textContent: string) => recordedText(nextNode++, textContent)
const element = (tagName: string, attributes: object = {}, ...childNodes: MadeNode[]) =>
  recordedElement(nextNode++, tagName, attributes, ...childNodes)
const documentOf = (head: MadeNode[], body: MadeNode[]) => ({
  type: 0,
  id: 1,
  childNodes: [
    { type: 1, id: 2, name: 'html', publicId: '', systemId: '' },
    element('html', {}, element('head', {}, ...head), { ...element('body', {}, ...body), id: 50 }),
  ],
})
const page = (at: number, node: object) => recordedBegin(at, node, 600, 400)
/** A node with its children one by one, as rrweb tells of them. */
const added = (timestamp: number, node: MadeNode) => {
  const adds: object[] = []
  const add = (parentId: number, { childNodes = [], ...own }: MadeNode & { childNodes?: MadeNode[] }) => {
    adds.push({ parentId, nextId: null, node: { ...own, ...(own.type === 2 && { childNodes: [] }) } })
    for (const child of childNodes) add(own.id, child)
  }
  add(50, node)
  return change(timestamp, { source: 0, texts: [], attributes: [], removes: [], adds })
}

async function record(session: number, events: object[], more: Record<string, string | number> = {}): Promise<void> {
  const packed = pack(events)
  const { timestamp: at } = events[0] as { timestamp: number }
  const row = {
    workspace_id: mine.workspaceId,
    session,
    at,
    events: packed,
    json_bytes: 1_000,
    duration_ms: 20_000,
    ...more,
  }
  await insertChunks(stores.ch, [row])
}

async function playerOf(dashboard: Page): Promise<Frame> {
  const frame = await vi.waitFor(() => {
    const found = dashboard.frames().find((one) => one.url().endsWith('/dashboard/player'))
    expect(found).toBeDefined()
    return found!
  }, 60_000)
  await dashboard.waitForSelector('button:text-is("Play"):not([disabled])')
  return frame
}

const bodyText = (frame: Frame) => frame.evaluate('document.body?.innerText ?? ""') as Promise<string>
const begin = Date.now() - 3_600_000

test('a recording is found in the list, and played, paused, sought and sped up by keyboard; events stand beside it', async (context) => {
  const session = 1_001
  const events = [
    ...page(
      begin,
      documentOf([element('style', {}, text('p { color: rgb(1, 2, 3) }'))], [element('p', {}, text('At first'))]),
    ),
    change(begin + 500, { source: 2, type: 2, id: 50, x: 20, y: 30 }),
    added(begin + 1_000, element('p', {}, text('A second later'))),
    added(begin + 20_000, element('p', {}, text('At the end'))),
  ]
  await record(session, events)
  const named = BigInt(stores.hashes.visitorOf(mine.workspaceId, 'browser-1'))
  const visitor = { hi: Number(named >> 32n), lo: Number(named & 0xffffffffn) }
  const own = { workspace_id: mine.workspaceId, visitor, anonymous_id: 'browser-1', session, session_named: 1 }
  await insertEventRows(stores.ch, [makeEventRow({ ...own, event_name: 'signed_up', occurred_at: begin + 10_000 })])
  await foldWhatIsThere(stores)

  const dashboard = await signIn(context)
  const errors: Error[] = []
  dashboard.on('pageerror', (error) => errors.push(error))
  await dashboard.waitForSelector('nav')
  await goBy(dashboard, 'r')
  await dashboard.waitForSelector('section[aria-label="Replays"] tbody tr')
  expect(await violations(dashboard)).toEqual([])
  const person = await dashboard.getAttribute('section[aria-label="Replays"] td a', 'href')
  expect(person).toMatch(/^\/dashboard\/people\?browser=./)
  await dashboard.focus('section[aria-label="Replays"] tbody a')
  await dashboard.keyboard.press('Enter')
  const frame = await playerOf(dashboard)
  await vi.waitFor(async () => expect(await bodyText(frame)).toBe('At first'), 60_000)
  expect(await frame.evaluate(`getComputedStyle(document.querySelector('p')).color`)).toBe('rgb(1, 2, 3)')

  await dashboard.focus('input[type="range"]')
  await dashboard.keyboard.press('End')
  await vi.waitFor(async () => expect(await bodyText(frame)).toContain('At the end'), 60_000)
  await dashboard.keyboard.press('Home')
  await vi.waitFor(async () => expect(await bodyText(frame)).toBe('At first'), 60_000)
  await dashboard.selectOption('select', '8')
  await dashboard.focus('button:text-is("Play")')
  await dashboard.keyboard.press('Enter')
  await vi.waitFor(async () => expect(await bodyText(frame)).toContain('At the end'), 60_000)
  // The pointer stands where the visitor clicked.
  await expect.poll(() => dashboard.evaluate(`document.querySelector('.pointer').hidden`)).toBe(false)

  await dashboard.waitForSelector('.beside >> text=signed_up')
  // While it plays, it goes on from the place that is sought.
  await dashboard.waitForSelector('.clock:has-text("0:20 /")')
  await dashboard.waitForSelector('button:text-is("Play")')
  await dashboard.click('.beside button')
  await vi.waitFor(async () => {
    expect(await bodyText(frame)).toContain('A second later')
    expect(await dashboard.textContent('.clock')).toMatch(/^0:1\d/)
  }, 60_000)
  expect(await dashboard.textContent('.beside button')).toBe('0:10 signed_up')
  await look(dashboard, 'replay')
  // A clock that is told of would speak each second.
  expect(await dashboard.locator('main :is(output, [role="status"], [aria-live])').count()).toBe(0)
  await dashboard.click('text=All replays')
  await dashboard.waitForSelector('section[aria-label="Replays"] tbody')
  expect(errors).toEqual([])
})

test('nothing of a hostile recording runs, loads, leads away or reaches the owner’s session', async (context) => {
  const asked: string[] = []
  const outside = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end()
  })
  const { url: out } = await listening(outside)
  context.onTestFinished(() => void outside.close())
  const run = (name: string) => `top.ran='${name}';globalThis.ran='${name}';new Image().src='${out}/${name}'`
  const hostile = () => [
    element('script', {}, text(run('script'))),
    element('script', { src: `${out}/script.js` }),
    element('img', { src: `${out}/image`, onerror: run('onerror') }),
    element('img', { src: 'x', onerror: run('onerror2') }),
    element('svg', { onload: run('svg') }, element('script', {}, text(run('svg-script')))),
    element('iframe', { src: `${out}/frame`, srcdoc: `<script>${run('srcdoc')}</script>` }),
    element('iframe', { src: `javascript:${run('frame-javascript')}` }),
    element('object', { data: `${out}/object` }),
    element('embed', { src: `${out}/embed` }),
    element('link', { rel: 'stylesheet', href: `${out}/style.css` }),
    element('link', { rel: 'preconnect', href: out }),
    element('style', {}, text(`@import url('${out}/import'); body { background: url('${out}/background') }`)),
    element('meta', { 'http-equiv': 'refresh', content: `0; url=${out}/refresh` }),
    element('base', { href: `${out}/base/` }),
    element('video', { src: `${out}/video`, autoplay: '', rr_mediaState: 'played' }),
    element('form', { action: `${out}/form`, id: 'f' }, element('button', { autofocus: '', onfocus: run('focus') })),
    element('a', { href: `javascript:${run('link')}`, id: 'link' }, text('link')),
    element('a', { href: `${out}/link`, id: 'away', target: '_top' }, text('away')),
    element('details', { open: '', ontoggle: run('toggle') }),
    element('canvas', { rr_dataURL: `${out}/canvas` }),
  ]
  const events = [
    ...page(begin, documentOf(hostile(), [...hostile(), element('p', {}, text('Shown'))])),
    ...hostile().map((node, at) => added(begin + 100 + at, node)),
    change(begin + 200, {
      source: 0,
      texts: [],
      removes: [],
      adds: [],
      attributes: [{ id: 50, attributes: { onload: run('changed'), onclick: run('click') } }],
    }),
    change(begin + 210, {
      source: 9,
      type: 0,
      id: 50,
      commands: [{ property: 'constructor', args: [{ rr_type: 'Function', args: [run('canvas')] }] }],
    }),
    change(begin + 220, { source: 10, family: 'x', fontSource: `url(${out}/font)`, buffer: false }),
    change(begin + 230, { source: 8, id: 50, adds: [{ rule: `p { background: url(${out}/rule) }` }] }),
    { type: 6, timestamp: begin + 240, data: { plugin: 'x', payload: {} } },
    added(begin + 3_000, element('p', {}, text('Later'))),
  ]
  await record(1_002, events, { session_id: 'hostile' })
  const dashboard = await signIn(context, '/dashboard/replays?id=1002')
  const frame = await playerOf(dashboard)
  await vi.waitFor(async () => expect(await bodyText(frame)).toContain('Shown'), 60_000)
  await dashboard.click('button:text-is("Play")')
  await vi.waitFor(async () => expect(await bodyText(frame)).toContain('Later'), 60_000)
  // As a person would that gets at them: the dashboard itself lets no click through.
  for (const id of ['link', 'away']) await frame.evaluate(`document.getElementById('${id}')?.click()`)
  await frame.evaluate(`document.body.click()`)
  await dashboard.waitForTimeout(1_500)

  expect(await frame.evaluate('globalThis.ran')).toBeUndefined()
  expect(await dashboard.evaluate('globalThis.ran')).toBeUndefined()
  expect(asked).toEqual([])
  expect(dashboard.url()).toBe(`${api.url}/dashboard/replays?id=1002`)
  expect(await frame.evaluate('document.querySelectorAll("iframe, object, embed, script, base").length')).toBe(0)
  // Its origin is opaque: cookies, the dashboard's document and the API are out of reach.
  expect(await frame.evaluate('origin')).toBe('null')
  const reach = `(async () => {
    const tried = {}
    for (const [name, work] of Object.entries({
      cookie: () => document.cookie, storage: () => localStorage.length, parent: () => parent.document.title,
      api: () => fetch('${api.url}/api/v1/workspace', { credentials: 'include' }),
    })) tried[name] = await Promise.resolve().then(work).then(() => 'reached', () => 'refused')
    return tried
  })()`
  expect(await frame.evaluate(reach)).toEqual({
    cookie: 'refused',
    storage: 'refused',
    parent: 'refused',
    api: 'refused',
  })
})

test('a recording with entries that are none is played', async (context) => {
  const nodes = [null, 5, { type: 2, id: 61, tagName: null, attributes: null }] as unknown as MadeNode[]
  const odd = element('p', {}, ...nodes, text('Shown anyway'))
  const changes = change(begin + 100, { source: 0, adds: [null, { node: null }], texts: null, attributes: [null] })
  const button: MadeNode = { ...element('button'), id: 60 }
  const dialog = added(begin + 300, element('dialog', { open: '', rr_open_mode: 'modal' }, element('button')))
  const deep = Array.from({ length: 9_000 }, (_, at) => ({
    parentId: at === 0 ? 50 : 9_999 + at,
    nextId: null,
    node: { ...element('div'), id: 10_000 + at },
  }))
  // Too few for `element` to reach the ids of the others.
  const shadows = Array.from({ length: 600 }, (_, at) => ({
    parentId: at === 0 ? 50 : 19_999 + at,
    nextId: null,
    node: { ...element('div', at === 0 ? { id: 'host' } : {}), id: 20_000 + at, ...(at > 0 && { isShadow: true }) },
  }))
  await record(1_003, [
    ...page(begin, documentOf([], [odd, button])),
    changes,
    change(begin + 200, { source: 2, type: 5, id: 60 }),
    dialog,
    ...[1, 2].map((at) => change(begin + 300 + at, { source: at, type: 5, positions: [null] })),
    { type: 2, timestamp: begin + 400, data: { node: { type: 0, id: 1, childNodes: [{ type: 2 }] } } },
    { type: 2, timestamp: begin + 500, data: { node: documentOf([], [text('Again')]), initialOffset: 'x' } },
    change(begin + 600, { source: 0, texts: [], attributes: [], removes: [], adds: deep }),
    change(begin + 700, { source: 0, texts: [], attributes: [], removes: [], adds: shadows }),
    added(begin + 2_600, text(' and the end')),
  ])
  const dashboard = await signIn(context, '/dashboard/replays?id=1003')
  const errors: string[] = []
  dashboard.on('pageerror', ({ message }) => errors.push(message))
  const frame = await playerOf(dashboard)
  await vi.waitFor(async () => expect(await bodyText(frame)).toContain('Shown anyway'), 60_000)
  await dashboard.focus('button:text-is("Play")')
  await dashboard.keyboard.press('Enter')
  await vi.waitFor(async () => expect(await bodyText(frame)).toContain('and the end'), 60_000)
  await dashboard.waitForSelector('button:text-is("Play")')
  await dashboard.waitForSelector('.clock:text-is("0:02 / 0:02")')
  await dashboard.waitForSelector('.note:has-text("Parts of this recording are missing, or can’t be shown.")')
  const nested = `(() => {
    let depth = 0
    for (let at = document.getElementById('host'); at; at = at.shadowRoot?.firstElementChild) depth++
    return depth
  })()`
  const depth = await frame.evaluate(nested)
  expect(depth).toBeGreaterThan(200)
  expect(depth).toBeLessThanOrEqual(512)
  // Neither a field nor a dialog of the recording took the keyboard.
  expect(await dashboard.evaluate('document.activeElement.textContent')).toBe('Play')
  // The recording stays whole in a narrow window.
  await dashboard.setViewportSize({ width: 390, height: 900 })
  const widthOf = (selector: string) =>
    dashboard.$eval(selector, (node) => Math.round(node.getBoundingClientRect().width))
  await expect.poll(() => widthOf('.stage iframe')).toBeLessThanOrEqual(await widthOf('.stage'))
  expect(errors).toEqual([])
})

test('the player’s document has no origin and one script, wherever it is opened', async () => {
  const response = await fetch(`${api.url}/dashboard/player`)
  const policy = response.headers.get('content-security-policy')!
  expect(policy).toMatch(
    /^sandbox allow-scripts; default-src 'none'; .*frame-ancestors 'self'; script-src 'nonce-[\w-]{22}';/,
  )
  const again = await fetch(`${api.url}/dashboard/player`)
  expect(again.headers.get('content-security-policy')).not.toBe(policy)
  const shell = await fetch(`${api.url}/dashboard/sign-in`)
  expect(shell.headers.get('content-security-policy')).not.toContain('unsafe')
})

test('a replay that can’t be read says why and is tried again, by itself where the service is busy', async (context) => {
  const session = 1_090
  await record(session, [...page(begin, documentOf([], [])), added(begin + 1_000, element('p', {}, text('Late')))])
  await foldWhatIsThere(stores)
  const dashboard = await signIn(context)
  const answers = [
    { status: 503, headers: { 'Retry-After': '1' }, body: '{"detail":"A store is away"}' },
    { status: 500, body: '{"detail":"Internal error"}' },
  ]
  await dashboard.route(`**/api/v1/replays/${session}?*`, (route) => {
    const answer = answers.shift()
    return answer ? route.fulfill({ contentType: 'application/json', ...answer }) : route.continue()
  })
  const beside = 'section[aria-label="Events"]'
  let areNewer = false
  const newer = { id: 1, session_id: 'another', event_name: 'a', path: '/', occurred_at: new Date().toISOString() }
  await dashboard.route('**/api/v1/people/journey?*', (route) =>
    route.fulfill(
      areNewer
        ? { json: { events: Array.from({ length: 500 }, () => newer) } }
        : { status: 500, json: { detail: 'Internal error' } },
    ),
  )
  await goWithin(dashboard, `/dashboard/replays?id=${session}`)
  await dashboard.waitForSelector('.failure:has-text("This replay can’t be read: Internal error.")')
  await dashboard.click('text=Try again')
  await dashboard.waitForSelector('button:text-is("Play"):not([disabled])')
  // First they fail, then there are newer ones alone.
  await dashboard.waitForSelector(`${beside} .failure:has-text("Internal error")`)
  areNewer = true
  await askAnew(dashboard)
  await dashboard.waitForSelector(`${beside} >> text=These events are too old`)
  await goWithin(dashboard, '/dashboard/replays?path=/nowhere')
  await dashboard.fill('[name="min_seconds"]', ' 3')
  await dashboard.keyboard.press('Enter')
  await dashboard.waitForURL('**/replays?path=%2Fnowhere&min_seconds=3')
  expect(await dashboard.evaluate('document.activeElement.name')).toBe('min_seconds')
  await dashboard.click('section[aria-label="Replays"] >> text=Show all')
  await dashboard.waitForSelector('section[aria-label="Replays"] tbody tr')
  expect(await dashboard.inputValue('[name="path"]')).toBe('')

  // The player's document is lost on the way. Its deadline is over at once.
  await dashboard.addInitScript(`{
    const { setInterval } = window
    window.setInterval = (call, ms, ...rest) => setInterval(call, ms === 5_000 ? 10 : ms, ...rest)
  }`)
  await dashboard.route('**/dashboard/player', (route) => route.abort())
  await dashboard.goto(`${api.url}/dashboard/replays?id=${session}`)
  await dashboard.waitForSelector('.failure:has-text("The player doesn’t answer.")')
})
