import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { channelOf } from '../../schemas/reference/channels.ts'
import { clickParameters, sourcesByKind } from '../../schemas/reference/source-table.ts'
import { kindOfSource, sourceOfHost } from '../../schemas/reference/sources.ts'
import { readDoc, tableOf } from '../support/docs.ts'
import { rowOf } from '../support/enriching.ts'

const page = 'https://www.example.com/pricing'
const cases = readFileSync(new URL('source-cases.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' | ') as [source: string, medium: string, channel: string, visit: string])

describe('source, medium and channel are those of the table', () => {
  test.each(cases)('%s | %s | %s | %s', (source, medium, channel, visit) => {
    const [, url = page, referrer = null] = /^(?:at (\S+))? ?(?:from (.+))?$/.exec(visit)!
    const row = rowOf({ url, referrer })
    expect([row.source, row.medium, channelOf(row.source, row.medium)]).toEqual([source, medium, channel])
  })
})

test('every channel has a visit in the table, and is one that the page of figures defines', () => {
  const defined = tableOf(readDoc('docs/metrics.md'), '## Channels').flatMap(([names]) =>
    names!.match(/[^`]+(?=`(,|$))/g),
  )
  expect(new Set(cases.map(([, , channel]) => channel))).toEqual(new Set(defined))
})

describe('the list of sources', () => {
  const lines = Object.entries(sourcesByKind).flatMap(([kind, text]) =>
    text
      .trim()
      .split('\n')
      .map((line) => [kind, ...line.trim().split(/\s+/)] as [kind: string, source: string, ...words: string[]]),
  )

  test('names nothing twice', () => {
    const words = lines.flatMap(([, , ...rest]) => rest)
    expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([])
    expect(words.filter((word) => word !== word.toLowerCase())).toEqual([])
  })

  test('gives every host its source, and every source a channel of its kind by its own name', () => {
    for (const [kind, source, ...words] of lines) {
      for (const host of words.filter((word) => word.includes('.') && !word.endsWith('.*'))) {
        expect([host, sourceOfHost(host).source]).toEqual([host, kind === 'shop' ? host : source])
        expect([host, kindOfSource(host)]).toEqual([host, kind])
      }
      if (!kind.endsWith('Ad')) expect([source, kindOfSource(source)]).toEqual([source, kind])
    }
  })

  test('knows the click ids that are promised', () => {
    const words = Object.values(clickParameters).join(' ').split(/\s+/)
    const promised =
      'gclid gclsrc dclid gbraid wbraid fbclid msclkid twclid li_fat_id igshid ttclid rdt_cid epik qclid sccid irclid _kx mc_cid'
    const page = readDoc('docs/tracking.md')
    for (const name of promised.split(' ')) {
      expect(words).toContain(name)
      expect(page).toContain(`\`${name}\``)
    }
  })
})
