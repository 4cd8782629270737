/** docs/browser.md against the script: its calls, flags, markers, keys and bounds. */
import { readFileSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { makeBrowserScript } from '../../ingest/http/browser-script.ts'
import { projectFile } from '../../runtime/paths.ts'
import { kindByEventName } from '../../schemas/event/row.ts'
import * as served from '../../schemas/limits/script-limits.ts'
import * as bounds from '../../web/script/bounds.ts'
import { eraseAll } from '../../web/script/storage.ts'
import { readDoc, tableOf } from '../support/docs.ts'

const page = readDoc('docs/browser.md')
/** The texts in backquotes in the first cells of a table. */
const namesOf = (heading: string) =>
  tableOf(page, heading).flatMap(([cell]) => [...cell!.matchAll(/`([^`]*)`/g)].map(([, name]) => name!))

test('every call that the types declare is in the table, and no other', () => {
  const declared = [...readFileSync(projectFile('web/script/svc.d.ts'), 'utf8').matchAll(/^ {2}(\w+)\(/gm)].map(
    ([, name]) => name,
  )
  const behind = page.slice(page.indexOf('\n| call |'))
  const shown = tableOf(`## Calls${behind}`, '## Calls').map(([cell]) => /`Svc\.(\w+)\(/.exec(cell!)![1])
  expect(declared.length).toBeGreaterThan(9)
  expect(shown).toEqual(declared)
})

test('the stub keeps the calls that record something', () => {
  const kept = /for \(const call of \[(.*)\]\)/.exec(page)![1]!.match(/\w+/g)
  expect(kept).toEqual(['page', 'track', 'identify', 'conversion', 'webVital', 'consent'])
})

test('every event that the script makes by itself is in the table, and the server knows it', () => {
  expect(namesOf('## Events').sort()).toEqual(Object.keys(kindByEventName).sort())
})

describe('the flags in the table', () => {
  const find = () => ({ id: 1, timezone: 'UTC', replayShare: 0, exclusions: null })
  const serve = makeBrowserScript({ keys: { find, resolve: async () => find() }, apiHost: 'http://localhost' })
  const served = async (query: string) =>
    (await serve({ query: `key=a${query}`, acceptEncoding: '', ifNoneMatch: '' })).body
  const flags = namesOf('## Flags')

  test('change the script, and with another value they do not', async () => {
    const plain = await served('')
    expect(flags.length).toBeGreaterThan(2)
    for (const flag of flags) {
      expect([flag, (await served(`&${flag}`)) === plain]).toEqual([flag, false])
      expect([flag, (await served(`&${flag}x`)) === plain]).toEqual([flag, true])
    }
  })

  test('are all that the server reads, beside the key and the part of the script', async () => {
    const read = vi.spyOn(URLSearchParams.prototype, 'get')
    try {
      await served('')
      expect(new Set(read.mock.calls.flat())).toEqual(
        new Set(['key', 'late', 'replay', ...flags.map((flag) => flag.split('=')[0]!)]),
      )
    } finally {
      read.mockRestore()
    }
  })
})

test('every marker that leaves a region out is named', async () => {
  // By its path, because its types are those of browsers, which tests have none of.
  const { describeClick } = (await import(projectFile('web/script/clicks.ts'))) as {
    describeClick(seen: readonly [event: object, path: object[]]): unknown
  }
  const asked: string[] = []
  const node = { matches: (selector: string) => asked.push(selector) > 0 }
  // The first thing that is asked of an element is whether it is left out.
  expect(describeClick([{ type: 'click' }, [node]])).toBeUndefined()
  expect(asked).toHaveLength(1)
  const markers = asked[0]!.match(/[a-z-]+/g)!
  expect(new Set(markers)).toEqual(new Set(['data-svc-block', 'svc-block', 'svc-no-capture', 'data-svc-ignore']))
  const table = tableOf(page, '## Leaving things out').flat().join(' ')
  for (const marker of markers) expect(table).toContain(marker)
})

test('every key that is kept is in the table', () => {
  const erased: unknown[] = []
  const deleteProperty = (_: object, key: string | symbol) => erased.push(key) > 0
  vi.stubGlobal('localStorage', new Proxy({}, { deleteProperty }))
  try {
    eraseAll()
  } finally {
    vi.unstubAllGlobals()
  }
  expect(namesOf('## What is kept')).toEqual(erased)
})

describe('the page says, as the bounds do,', () => {
  const minutes = (ms: number) => ms / 60_000
  test.each([
    [`under ${served.scriptGzipBytesMax.toLocaleString('en-US')} bytes compressed`],
    [`up to ${bounds.queueMax.toLocaleString('en-US')}`],
    [`up to ${bounds.storedMax} events`],
    [`of over ${bounds.eventCharactersMax.toLocaleString('en-US')} characters`],
    [`Events go out together after ${bounds.delayMs} ms`],
    [`recorded ${bounds.titleMs} ms after the change`],
    [`ends after ${minutes(bounds.sessionIdleMsMax)} minutes without`],
    [`after ${minutes(bounds.sessionMsMax) / 60} hours in any case`],
    [`max-age=${served.scriptMaxAgeSeconds}`],
  ])('"%s"', (text) => {
    expect(page).toContain(text)
  })

  test('the rest in words', () => {
    expect([minutes(bounds.journeyMsMax), bounds.backoffSecondsMax / 60]).toEqual([2, 5])
    expect(page).toContain('within two minutes')
    expect(page).toContain('of at most five minutes')
    expect(bounds.sessionMsMax).toBe(86_400_000)
    expect(page).toContain('for a day at most')
  })
})
