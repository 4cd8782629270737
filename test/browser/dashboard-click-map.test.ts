/** The dashboard's click map: a recorded page under the clicks of its visitors, in the player's sandbox. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { cellsOf, list, look, setUpDashboard } from '../support/dashboard.ts'
import {
  recordedBegin as begin,
  recordedClick as click,
  recordedElement as element,
  recordedPage as page,
  recordedScroll as scroll,
  recordedText as text,
} from '../support/recorded-pages.ts'
import { insertChunks, pack } from '../support/replays.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1', sharesWorkspace: true })
const signIn = setUpDashboard({ stores, api, mine })

const at = Date.now() - 3_600_000
const run = `top.ran=1;globalThis.ran=1`
const pricing = page(
  element(4, 'style', {}, text(5, 'body { margin: 0 } div { height: 3000px }')),
  element(6, 'script', {}, text(7, run)),
  element(8, 'img', { src: 'x', onerror: run }),
  element(9, 'button', { id: 'buy', class: 'large' }, text(10, '*** ***')),
  element(11, 'div', {}, element(12, 'p', {}, text(13, '****'))),
)

test('a page’s clicks are drawn over it, listed by element, and found by device; nothing of the recording runs', async (context) => {
  const chunk = { workspace_id: mine.workspaceId, path: '/pricing', json_bytes: 1_000 }
  const clicks = [click(at + 100, 10, 300, 200), scroll(at + 2_000, 1_600), click(at + 3_000, 13, 700, 100)]
  const tower = [...begin(at, pricing, 400, 20_000), click(at + 100, 10, 300, 30_000)]
  await insertChunks(stores.ch, [
    { ...chunk, path: '/tower', session: 2_003, at, events: pack(tower) },
    { ...chunk, session: 2_001, at, events: pack([...begin(at, pricing), ...clicks]) },
    { ...chunk, session: 2_002, at: at + 1, visitor: '2', events: pack([...begin(at, pricing), clicks[0]]) },
  ])
  const dashboard = await signIn(context)
  await dashboard.goto(`${api.url}/dashboard?path=/pricing&days=7`)
  await dashboard.click(`${list('Before and after')} >> text=Click map`)
  await dashboard.waitForURL('**/dashboard/click-map?days=7&path=%2Fpricing')
  const rows = () => cellsOf(dashboard, `${list('Elements')} tbody tr`)
  // Nothing answered the first click before the page was scrolled, two seconds later.
  await expect.poll(rows).toEqual([
    ['button#buy *** ***', '2', '66.7 %', '2', '1', '0'],
    ['body > div > p ****', '1', '33.3 %', '1', '0', '0'],
  ])
  await dashboard.waitForSelector(`${list('Scroll depth')} li:has-text("100 %, 2,400 px"):has-text("50 %")`)

  const stage = list('Clicks on the page')
  const frame = () => dashboard.frames().find((one) => one.url().endsWith('/dashboard/player'))
  await expect.poll(() => frame()?.evaluate('document.body?.innerText ?? ""')).toContain('*** ***')
  const inked = (x: number, y: number) =>
    dashboard.evaluate(`{
      const canvas = document.querySelector('.mapped canvas')
      const scale = canvas.width / 1200
      canvas.getContext('2d').getImageData(Math.round(${x} * scale), Math.round(${y} * scale), 1, 1).data[3] > 0
    }`)
  await expect.poll(() => inked(300, 200)).toBe(true)
  expect(await inked(700, 100)).toBe(false)
  // Hidden for longer than the player takes to measure, it has no width: that is no error, and it stays as high as it was.
  const errors: string[] = []
  dashboard.on('pageerror', ({ message }) => errors.push(message))
  const display = (as: string) =>
    dashboard.evaluate(`document.querySelector(${JSON.stringify(stage)}).style.display = '${as}'`)
  const heightOf = () => dashboard.$eval(`${stage} > div`, ({ style }) => Number.parseFloat(style.height))
  // The player tells how high the page is after it has drawn it.
  await expect.poll(heightOf).toBeGreaterThan(1_000)
  const range = await heightOf()
  await display('none')
  await dashboard.waitForTimeout(1_500)
  expect(await heightOf()).toBe(range)
  await display('')
  await expect.poll(() => inked(300, 200)).toBe(true)
  expect(errors).toEqual([])
  // By keys the page goes on, and the clicks with it.
  await dashboard.focus(stage)
  await dashboard.keyboard.press('End')
  // To its end: a scroll by keys that is still under way would undo the one below.
  const left = () =>
    dashboard.$eval(stage, ({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)
  await expect.poll(left).toBeLessThan(1)
  await expect.poll(() => frame()?.evaluate('Math.round(scrollY)')).toBeGreaterThan(2_000)
  await expect.poll(() => inked(300, 200)).toBe(false)
  expect(await frame()!.evaluate('globalThis.ran')).toBeUndefined()
  expect(await dashboard.evaluate('globalThis.ran')).toBeUndefined()
  // An element is chosen by its button: its click comes into sight and is ringed, the others are dots.
  await dashboard.$eval(stage, (scrolled) => scrolled.scrollTo(0, 0))
  await dashboard.focus(`${list('Elements')} button >> nth=1`)
  await dashboard.keyboard.press('Enter')
  await expect.poll(() => inked(700 + 7, 400)).toBe(true)
  await dashboard.waitForSelector(`${list('Elements')} button[aria-pressed="true"]:has-text("p ****")`)
  // The ring begins a few pixels from the place, and a dot ends there.
  await dashboard.hover(`${list('Elements')} tr:has-text("button#buy")`)
  await expect.poll(() => inked(700 + 7, 400)).toBe(false)
  // A screen however dense, or a window however high, has a canvas that the browser draws on.
  await dashboard.evaluate('globalThis.devicePixelRatio = 1_000')
  await dashboard.hover(stage)
  await expect.poll(() => inked(700, 400)).toBe(true)
  await dashboard.evaluate('globalThis.devicePixelRatio = 1')
  await dashboard.check('text=Scroll depth')
  await look(dashboard, 'click-map')

  await dashboard.selectOption('select[aria-label="Device"]', 'mobile')
  await dashboard.waitForURL('**/dashboard/click-map?days=7&path=%2Fpricing&device=mobile')
  await dashboard.click(`${list('No recordings')} >> text=Desktop: 2 page views`)
  await dashboard.waitForSelector(list('Elements'))
  await dashboard.fill('input[name="path"]', '/nowhere')
  await dashboard.keyboard.press('Enter')
  await dashboard.waitForSelector(`${list('No recordings')} >> text=Replay is off`)
  // Its words stand in one line of text, not apart.
  const displayOfHeading = `getComputedStyle(document.querySelector('${list('No recordings')} h2')).display`
  expect(await dashboard.evaluate(displayOfHeading)).toBe('block')
  await dashboard.click('main >> text=Replays')
  await dashboard.waitForURL('**/dashboard/replays?path=%2Fnowhere')
  await dashboard.click('main >> text=Click map')
  await dashboard.waitForURL('**/dashboard/click-map?path=%2Fnowhere')

  // A window that is fifty times as high as wide leaves room for the dashboard, and says which clicks it lacks.
  await dashboard.goto(`${api.url}/dashboard/click-map?days=7&path=/tower&device=mobile`)
  await dashboard.waitForSelector(`${list('Click map')} >> text=1 clicks aren’t drawn`)
  await expect.poll(() => dashboard.$eval(stage, ({ clientHeight }) => clientHeight)).toBeLessThan(2_000)
})
