import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { devices } from '../../schemas/event/row.ts'
import { rowOf } from '../support/enriching.ts'

const cases = readFileSync(new URL('user-agent-cases.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' | ') as [device: string, browser: string, system: string, agent: string])

describe('device, browser and system are those of the table', () => {
  test.each(cases)('%s | %s | %s | %s', (device, browser, system, userAgent) => {
    const row = rowOf({}, { sender: { userAgent } })
    const named = Object.entries(devices).find(([, number]) => number === row.device)?.[0]
    expect([named, row.browser || '-', row.os || '-']).toEqual([device, browser, system])
  })
})
