import type { EventRow } from './rows-at-hand.ts'

/** SQL of a row's source and medium, and of the keys of the breakdowns, as texts. */
export const sourceKey = "if(source = '', 'direct', toString(source))"
export const mediumKey = "if(source = '', 'none', toString(medium))"
export const deviceKey = 'toString(device)'
export const browserKey = "if(browser = '', 'unknown', toString(browser))"
export const countryKey = "if(country = toFixedString('', 2), 'unknown', toString(country))"

/** The same of a row at hand, by the dimensions of `agg_sessions`: [dimension, key, detail]. */
export function keysOfRow(row: EventRow): [dimension: string, key: string, detail: string][] {
  return [
    ['source', row.source || 'direct', row.source === '' ? 'none' : row.medium],
    ['device', row.device, ''],
    ['browser', row.browser || 'unknown', ''],
    ['country', row.countryCode || 'unknown', ''],
  ]
}
