/** The browser script as it is bundled: what its sources say, within its sizes, and with the types that sites get. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { makeBrowserScript } from '../../ingest/http/browser-script.ts'
import { projectFile } from '../../runtime/paths.ts'
import * as limits from '../../schemas/limits/event-limits.ts'
import {
  dashboardGzipBytesMax,
  scriptGzipBytesMax,
  scriptsGzipBytesMax,
  scriptsWithOptionalGzipBytesMax,
} from '../../schemas/limits/script-limits.ts'
import { bundleDashboard, bundleScripts } from '../../web/bundle/generate.ts'
import { drawWorld } from '../../web/bundle/world-map.ts'
import * as bounds from '../../web/script/bounds.ts'
import { setUpFolder } from '../support/test-folder.ts'

const folder = setUpFolder()

const scripts = bundleScripts()
const dashboard = bundleDashboard()

test('the committed bundles are what the sources say: else run `npm run build`', async () => {
  for (const [path, text] of Object.entries({ ...(await scripts), ...(await dashboard) }))
    expect(readFileSync(projectFile(path), 'utf8'), path).toBe(text)
  // Nothing of before is left.
  const kept = readdirSync(projectFile('web/generated/dashboard')).map((name) => `web/generated/dashboard/${name}`)
  expect(kept.sort()).toEqual(Object.keys(await dashboard).sort())
  expect(JSON.parse(readFileSync(projectFile('web/generated/world.json'), 'utf8'))).toEqual(drawWorld())
})

test('the first page of the dashboard is within its bound', async () => {
  const files = await dashboard
  const { script, style, chunks } = JSON.parse(files['web/generated/dashboard/bundle.json']!)
  const first = [script, style, ...chunks].map((name) => gzipSync(files[`web/generated/dashboard/${name}`]!).length)
  const bytes = first.reduce((sum, length) => sum + length, 0)
  console.info(`dashboard: ${bytes} bytes by gzip before its first chart`)
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThanOrEqual(dashboardGzipBytesMax)
})

test.each([
  'analytics.example.com',
  // 64 characters, like hardly anything in the script.
  'q7x2v9k4j8w1z6h3f5b0y7g2m9n4c8d1p6t3r5l0.z4k9.ondigitalocean.app',
])('what is served is within its bounds, from %s', async (host) => {
  let replayShare = 0
  const script = makeBrowserScript({
    keys: { find: () => ({ id: 1, timezone: 'UTC', replayShare, exclusions: null }), resolve: async () => 'unknown' },
    apiHost: `https://${host}`,
  })
  const bytesOf = async (query: string) => {
    const { body } = await script({ query, acceptEncoding: '', ifNoneMatch: '' })
    return gzipSync(body as string, { level: 9 }).length
  }
  const flags = '&require_consent=true&autocapture=false&respect_gpc=false'
  const own = await bytesOf(`key=svc_pk_aB3dE5gH7jK9mN1pQ3sT5vWx${flags}`)
  replayShare = 100
  const recording = await bytesOf(`key=svc_pk_aB3dE5gH7jK9mN1pQ3sT5vWx${flags}`)
  const choosing = await bytesOf(
    `key=svc_pk_aB3dE5gH7jK9mN1pQ3sT5vWx${flags}&downloads=true&not_found=true&search=true`,
  )
  const late = await bytesOf('late=x')
  console.info(`svc.js: ${own} bytes by gzip; its second file: ${late}; together ${own + late}`)
  expect(own).toBeGreaterThan(1_000)
  expect(own).toBeLessThanOrEqual(scriptGzipBytesMax)
  expect(recording).toBeGreaterThan(own)
  expect(recording).toBeLessThanOrEqual(scriptGzipBytesMax)
  expect(recording + late).toBeLessThanOrEqual(scriptsGzipBytesMax)
  expect(choosing).toBeLessThanOrEqual(scriptGzipBytesMax)
  expect(choosing + (await bytesOf('late=x.f'))).toBeLessThanOrEqual(scriptsWithOptionalGzipBytesMax)
})

test('a request holds the longest events that it may be made of, and none is dropped that the server takes', () => {
  const { batchMax, eventCharactersMax } = bounds
  // Ids, times, names of fields, the key.
  const rest = 1_000
  expect(batchMax * (3 * eventCharactersMax + rest)).toBeLessThan(limits.batchBodyBytesMax)
  // A quote in a title or name is two characters of JSON; an address has none.
  const texts = 2 * (limits.titleLengthMax + limits.eventNameLengthMax + limits.fullNameLengthMax)
  const whole = limits.propertiesBytesMax + 2 * limits.urlLengthMax + texts + limits.identifierLengthMax + rest
  expect(eventCharactersMax).toBeGreaterThan(whole)
})

test('no part of it makes code of text, writes markup, or sets a cookie', async () => {
  for (const [path, text] of Object.entries(await scripts)) {
    expect(text, path).not.toMatch(/\beval\b|\bFunction\(|document\.write|insertAdjacentHTML|HTML=|cookie/)
    // rrweb makes elements to measure and to resolve addresses by.
    if (!path.endsWith('svc-replay.js')) expect(text, path).not.toMatch(/innerHTML|outerHTML|createElement/)
  }
})

test('its types let a site in TypeScript make every call, and refuse wrong ones', () => {
  const calls = ['Svc.track()', 'Svc.track("a", "b")', 'Svc.track(1)', 'Svc.consent("yes")', 'Svc.webVital("TTFB", 1)']
  const wrong = [...calls, 'Svc.pages()']
  const right = `
    Svc.page(); Svc.page({ section: 'a' }); Svc.track('a'); Svc.track('a', { b: 1 }); Svc.identify('a@b.c', { full_name: 'A' })
    interface Plan { name: string; isPaid?: boolean }
    const plan: Plan = { name: 'a' }; Svc.track('a', plan); Svc.identify('a@b.c', plan)
    Svc.conversion('a', { plan: 'b' }); Svc.webVital('LCP', 1200, { route: '/' }); Svc.consent(true)
    const ids: (string | null)[] = [Svc.anonymousId(), Svc.sessionId()]
    const url: string = Svc.link('https://other.example/')
    const { first_touch, last_touch } = Svc.journey()
    const source: string | undefined = first_touch?.source ?? last_touch?.referrer`
  writeFileSync(join(folder, 'site.ts'), wrong.join('\n') + right)
  const config = { compilerOptions: { strict: true, noEmit: true, types: [], lib: ['ES2020', 'DOM'] } }
  const files = [projectFile('web/script/svc.d.ts'), 'site.ts']
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, files }))
  const tsc = projectFile('node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  const lines = [...stdout.matchAll(/^.*\.ts\((\d+),/gm)].map(([, line]) => Number(line))
  expect(lines, stdout).toEqual(wrong.map((_, at) => at + 1))
})
