/** The recording of a page by svc.js: when it runs, and which texts it masks or leaves out. */
import { gunzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { changeWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { isChosen } from '../../web/script/replay/choice.ts'
import { recordedWorkspace, storedChunks } from '../support/recording.ts'
import { setUpSurface } from '../support/tracking-surface.ts'
import { root, shop, startVisit, type Visit } from '../support/visits.ts'

const surface = setUpSurface()

/** Each of them stands where it is masked or left out, and nowhere else. */
const secrets = {
  text: 'Zanzibar',
  typed: 'Quixotic',
  password: 'Hunter2Hunter2',
  placeholder: 'Wobbegong',
  alt: 'Xylophone',
  aria: 'Yggdrasil',
  data: 'Vuvuzela',
  option: 'Kookaburra',
  blocked: 'Narwhal',
  noCapture: 'Platypus',
  added: 'Ocelot',
  changed: 'Tarantula',
  attribute: 'Jabberwock',
  script: 'Bandersnatch',
  comment: 'Gryphon',
  hidden: 'Mockturtle',
  textarea: 'Cheshire',
  titled: 'Dormouse',
  shadow: 'Griffin',
  shadowAdded: 'Basilisk',
  shadowChanged: 'Leviathan',
  custom: 'Chimera',
  mail: 'Manticore',
  picture: 'QmFzZTY0UGljdHVyZQ',
}
const s = secrets
const main = `
  <h1 class="headline">${s.text}</h1><!-- ${s.comment} -->
  <form><input id="name" placeholder="${s.placeholder}"><input id="password" type="password">
    <input type="hidden" value="${s.hidden}"><textarea>${s.textarea}</textarea>
    <select><option>${s.option}</option></select></form>
  <img alt="${s.alt}" src="/picture.png" width="10" height="10"><p aria-label="${s.aria}" data-user="${s.data}">x</p>
  <section data-svc-block style="width: 50px">${s.blocked}</section><section svc-no-capture>${s.noCapture}</section>
  <p tooltip="${s.custom}"><a href="mailto:${s.mail}@example.com">x</a></p><img src="data:image/png;base64,${s.picture}">
  <style>h1 { color: teal }</style><svg><style>path { fill: olive }</style></svg>
  <input type="radio" name="r" id="tick"><input type="checkbox" checked><x-shadow></x-shadow>
  <button type="button" id="change">b</button>
  <script>
  const shadow = document.querySelector('x-shadow').attachShadow({ mode: 'open' })
  shadow.append('${s.shadow}')
  document.querySelector('#change').onclick = () => {
    shadow.append('${s.shadowAdded}')
    shadow.firstChild.data = '${s.shadowChanged}'
    document.querySelector('img').setAttribute('srcset', 'data:image/png;base64,${s.picture}')
    const added = document.createElement('p')
    added.textContent = '${s.added}'
    document.body.append(added)
    document.querySelector('.headline').firstChild.data = '${s.changed}'
    document.querySelector('img').alt = '${s.attribute}'
    document.querySelector('style').firstChild.data = 'h1 { color: maroon }'
  } // ${s.script}
  </script>`

const recorderUrl = /svc\.js\?replay=/
const askedFor = (visit: Visit, path: RegExp) => visit.network.seen.filter(({ url }) => path.test(url.href))

async function untilChunks(visit: Visit, count = 1): Promise<void> {
  await vi.waitFor(() => expect(askedFor(visit, /growth\/replay$/).length).toBeGreaterThanOrEqual(count), 60_000)
}

/** Later by the page's clock, which has to be installed: what was due is sent, or would be. */
async function pass(visit: Visit, time: string): Promise<void> {
  await visit.page.clock.fastForward(time)
  await visit.page.waitForTimeout(500)
}
/** Longer than a chunk waits. */
const chunkTime = '00:06'

test('a page under a strict policy is recorded, and nothing of it that is masked or left out is sent', async (context) => {
  const visit = await startVisit(surface, context, { workspace: await recordedWorkspace(surface) })
  const picture = { body: '', headers: { 'Content-Type': 'image/png' } }
  visit.site(shop, { '/': { main, title: s.titled }, '/next': { main: '<p>next</p>' }, '/picture.png': picture })
  await visit.page.goto(`${root}/`)
  await visit.page.waitForFunction('window.Svc?.anonymousId()')
  // With its first chunk it has taken its snapshot: what is typed now is recorded as such.
  await untilChunks(visit)
  expect(askedFor(visit, recorderUrl)).toHaveLength(1)
  await visit.page.fill('#name', s.typed)
  await visit.page.fill('#password', s.password)
  await visit.page.check('#tick')
  await visit.page.click('#change')
  await visit.page.mouse.move(10, 10)
  await visit.page.click('h1')
  // The last chunk is sent while the page goes.
  await visit.page.goto(`${root}/next`)
  await vi.waitFor(async () => {
    expect(visit.network.pending).toBe(0)
    const pages = new Set((await storedChunks(surface, visit.workspace)).map(({ page_id }) => page_id))
    expect(pages.size).toBe(2)
  }, 60_000)

  const chunks = await storedChunks(surface, visit.workspace)
  const first = chunks.filter(({ page_id }) => page_id === chunks[0]!.page_id)
  expect(first.map(({ sequence }) => sequence)).toEqual(first.map((_, at) => at))
  const events = first.flatMap((chunk) => chunk.events)
  expect(events.filter(({ type }) => type === 2)).toHaveLength(1)
  const changes = events.filter(({ type }) => type === 3).map(({ data }) => data as Record<string, unknown>)
  // Something was typed, and three places were clicked, the last just before the page went.
  expect(changes.filter(({ source }) => source === 5).length).toBeGreaterThan(0)
  expect(changes.filter(({ source, type }) => source === 2 && type === 2)).toHaveLength(3)
  expect(changes.some(({ adds }) => Array.isArray(adds) && adds.length > 0)).toBe(true)

  const all = chunks.map(({ text }) => text).join('\n')
  expect(Object.entries(secrets).filter(([, secret]) => all.toLowerCase().includes(secret.toLowerCase()))).toEqual([])
  expect(all).not.toMatch(/"isChecked":true|"checked"/)
  expect(all).toContain('"isChecked":false')
  // And the check can fail: what isn't masked is there.
  expect(all).toContain('headline')
  expect(all).toContain('picture.png')
  for (const rule of ['color: teal', 'fill: olive', 'color: maroon']) expect(all).toContain(rule)
  expect(new Set(chunks.map(({ url }) => url))).toEqual(new Set([`${root}/`, `${root}/next`]))

  const [event] = await visit.stored('pageview')
  expect(new Set(chunks.map(({ anonymous_id }) => anonymous_id))).toEqual(new Set([event!.anonymous_id]))
  const sessions = await surface.ch.query<{ session: string }>(
    'SELECT DISTINCT toString(session) AS session FROM replay_chunks WHERE workspace_id = {id:UInt32}',
    { id: visit.workspace.workspaceId },
  )
  expect(sessions.map(({ session }) => session)).toEqual([String(event!.session)])
  expect(visit.complaints).toEqual([])
})

test('nothing is recorded before consent, and nothing more once it is taken back', async (context) => {
  const workspace = await recordedWorkspace(surface)
  const visit = await startVisit(surface, context, { workspace, flags: 'require_consent=true' })
  visit.site(shop, { '/': { main } })
  await visit.page.clock.install()
  await visit.page.goto(`${root}/`)
  await visit.page.waitForFunction('window.Svc?.anonymousId')
  await visit.page.click('#change')
  await visit.page.waitForTimeout(1_000)
  expect(askedFor(visit, recorderUrl)).toEqual([])
  await visit.page.evaluate('Svc.consent(true)')
  await untilChunks(visit)
  await visit.page.evaluate('Svc.consent(false)')
  const before = askedFor(visit, /growth\/replay$/).length
  await visit.page.click('h1')
  await pass(visit, chunkTime)
  await visit.page.goto('about:blank')
  expect(askedFor(visit, /growth\/replay$/).length).toBe(before)
  const pagesOf = async () => new Set((await storedChunks(surface, workspace)).map(({ page_id }) => page_id))
  expect((await pagesOf()).size).toBe(1)
  // Given again, another recording begins.
  await visit.page.goto(`${root}/`)
  await visit.page.waitForFunction('window.Svc?.anonymousId')
  await visit.page.evaluate('Svc.consent(true)')
  await untilChunks(visit, before + 1)
  await visit.page.evaluate('Svc.consent(false); Svc.consent(true)')
  await vi.waitFor(async () => expect((await pagesOf()).size).toBe(3), 60_000)
})

test('consent that is taken back drops what earlier recordings of the page have still to send', async (context) => {
  const workspace = await recordedWorkspace(surface)
  const visit = await startVisit(surface, context, { workspace, flags: 'require_consent=true' })
  visit.site(shop, { '/': { main } })
  const exposed = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' }
  const busy = { status: 503, headers: { ...exposed, 'Retry-After': '600' } }
  visit.network.decide = ({ url }) => (url.pathname.endsWith('growth/replay') ? busy : undefined)
  const asked = () => askedFor(visit, /growth\/replay$/).map(({ body }) => JSON.parse(body) as { page_id: string })
  const recordings = () => new Set(asked().map(({ page_id }) => page_id)).size
  await visit.page.clock.install()
  await visit.page.goto(`${root}/`)
  await visit.page.waitForFunction('window.Svc?.anonymousId')
  await visit.page.evaluate('Svc.consent(true)')
  await vi.waitFor(() => expect(recordings()).toBe(1), 60_000)
  await visit.page.clock.fastForward('31:00')
  await visit.page.click('#change')
  await vi.waitFor(() => expect(recordings()).toBe(2), 60_000)
  await visit.page.evaluate('Svc.consent(false)')
  const before = asked().length
  await pass(visit, '31:00')
  await visit.page.goto('about:blank')
  expect(asked()).toHaveLength(before)
})

test('where replay is off, or the session isn’t one of those, the recorder isn’t even fetched', async (context) => {
  const off = await startVisit(surface, context)
  off.site(shop, { '/': { main } })
  await off.page.goto(`${root}/`)
  await off.page.click('#change')
  await vi.waitFor(() => expect(askedFor(off, /svc\.js\?late=/).length).toBe(1), 60_000)
  await off.page.waitForTimeout(1_000)
  expect(askedFor(off, recorderUrl)).toEqual([])
})

test('a page that stays open is recorded from its first session on that is one of those, once it isn’t too large', async (context) => {
  const workspace = await recordedWorkspace(surface, 50)
  const browser = '1'.repeat(30)
  const now = Date.now()
  const times = Array.from({ length: 100 }, (_, at) => now - at)
  const stored = (isWanted: boolean) =>
    `${times.find((time) => isChosen(`${time}.${browser}`, 50) === isWanted)!}.${now}`
  const visit = await startVisit(surface, context, { workspace })
  const ids = `<script>localStorage.svc_aid = '${browser}'; localStorage.svc_sid = '${stored(false)}'</script>`
  visit.site(shop, { '/': { head: ids, main: `${main}<div id="large">${'<i></i>'.repeat(20_000)}</div>` } })
  await visit.page.clock.install()
  await visit.page.goto(`${root}/`)
  await vi.waitFor(() => expect(askedFor(visit, /svc\.js\?late=.*&50=/).length).toBe(1), 60_000)
  await pass(visit, chunkTime)
  expect(askedFor(visit, recorderUrl)).toEqual([])
  await visit.page.evaluate(`localStorage.svc_sid = '${stored(true)}'`)
  // A page with so many elements would stand still while its snapshot is taken.
  await vi.waitFor(() => expect(askedFor(visit, recorderUrl)).toHaveLength(1), 60_000)
  await pass(visit, chunkTime)
  await visit.page.evaluate(`document.querySelector('#large').remove()`)
  await untilChunks(visit)
  const [first] = askedFor(visit, /growth\/replay$/).map(({ body }) => JSON.parse(body) as { events: string })
  expect(gunzipSync(Buffer.from(first!.events, 'base64')).toString()).not.toContain('"large"')
})

test('a recording that is refused ends, and the page goes on', async (context) => {
  const workspace = await recordedWorkspace(surface)
  const visit = await startVisit(surface, context, { workspace })
  visit.site(shop, { '/': { main } })
  await visit.page.clock.install()
  await visit.page.goto(`${root}/`)
  await untilChunks(visit)
  // Whoever has the script of before goes on sending for as long as the browser keeps it.
  await changeWorkspace(surface.pg, workspace.workspaceId, { replayEnabled: false })
  await vi.waitFor(
    async () => {
      await visit.page.click('#change')
      await pass(visit, chunkTime)
      expect(askedFor(visit, /growth\/replay$/).some(({ status }) => status === 403)).toBe(true)
    },
    { timeout: 60_000, interval: 500 },
  )
  const sent = askedFor(visit, /growth\/replay$/).length
  await visit.page.click('#change')
  await pass(visit, chunkTime)
  expect(askedFor(visit, /growth\/replay$/).length).toBe(sent)
})

test('a recording is cut by pages, ends with its session, and the next one begins with the visitor’s next session', async (context) => {
  const workspace = await recordedWorkspace(surface)
  const visit = await startVisit(surface, context, { workspace })
  visit.site(shop, { '/': { main } })
  await visit.page.clock.install()
  await visit.page.goto(`${root}/`)
  await visit.page.waitForFunction('window.Svc?.anonymousId()')
  // A snapshot is sent at once.
  await untilChunks(visit)
  const session = await visit.page.evaluate('Svc.sessionId()')
  const before = askedFor(visit, /growth\/replay$/).length
  await visit.page.evaluate(`for (let at = 0; at < 20; at++) {
    history.replaceState({}, '', '/?at=' + at)
    document.querySelector('h1').className = 'at' + at
  }`)
  await visit.page.waitForTimeout(1_000)
  expect(askedFor(visit, /growth\/replay$/).length).toBeLessThan(before + 3)

  const chunks = () => storedChunks(surface, workspace)
  await visit.page.evaluate(`location.hash = '#/orders'; document.querySelector('h1').className = 'orders'`)
  await pass(visit, chunkTime)
  const urls = async () => (await chunks()).map(({ url }) => url)
  await vi.waitFor(async () => expect(await urls()).toContain(`${root}/?at=19#/orders`), 60_000)
  const sessions = async () => [...new Set((await chunks()).map(({ session_id }) => session_id))]
  const loads = async () => new Set((await chunks()).map(({ page_id }) => page_id)).size
  const act = async (after: string) => {
    await visit.page.clock.fastForward(after)
    await visit.page.click('#change')
  }
  await visit.page.clock.fastForward('31:00')
  // A move of the mouse begins no session.
  await visit.page.mouse.move(50, 50)
  await visit.page.mouse.move(60, 60)
  await pass(visit, chunkTime)
  expect([await sessions(), await loads()]).toEqual([[session], 1])
  await visit.page.click('#change')
  await vi.waitFor(async () => expect(await loads()).toBe(2), 60_000)
  expect(await sessions()).toContain(await visit.page.evaluate('Svc.sessionId()'))

  // After an hour there is no other recording of the same session.
  for (const after of ['25:00', '25:00', '25:00']) await act(after)
  await pass(visit, chunkTime)
  expect([(await sessions()).length, await loads()]).toEqual([2, 2])
  await act('31:00')
  await vi.waitFor(async () => expect(await loads()).toBe(3), 60_000)
  expect((await sessions()).length).toBe(3)
})
