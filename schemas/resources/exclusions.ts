/** Rules by which a workspace leaves traffic out. docs/tracking.md says what they do. */
import { z } from 'zod'
import { valueError } from '../errors/validation-errors.ts'
import type { Build } from '../errors/zod-errors.ts'
import { type ReadEntry, readAddressRange, readCountryCode, readHostname, readPathPattern } from '../exclusions.ts'
import {
  excludedAddressLengthMax,
  excludedHostLengthMax,
  excludedPathLengthMax,
  exclusionsMax,
} from '../limits/exclusion-limits.ts'

const texts = {
  addresses: 'Visitors with these addresses are left out: IPv4, IPv6 and CIDR ranges.',
  countries: 'Visitors in these countries are left out: ISO alpha-2.',
  paths: 'Pages with these paths are left out. `*` is any text, `!` before a pattern spares what it fits.',
  hostnames: 'Not empty: only pages on these hosts count. `*.example.com` is every host below example.com.',
}

/** Entries in their stored form, each once. @param example one of them: what a transform makes has none in the document */
function entries(lengthMax: number, readEntry: (text: string) => ReadEntry, example: string) {
  const entry = z
    .string()
    .min(1)
    .max(lengthMax)
    .meta({ examples: [example] })
    .transform((text, context) => {
      const read = readEntry(text)
      if ('entry' in read) return read.entry
      const build: Build = (loc) => valueError(loc, text, read.fault)
      context.addIssue({ code: 'custom', params: { build } })
      return z.NEVER
    })
  return z
    .array(entry)
    .max(exclusionsMax)
    .transform((list) => [...new Set(list)])
}

export const ExclusionsUpdate = z
  .object({
    addresses: entries(excludedAddressLengthMax, readAddressRange, '192.0.2.0/24').meta({
      description: texts.addresses,
    }),
    countries: entries(2, readCountryCode, 'AQ').meta({ description: texts.countries }),
    paths: entries(excludedPathLengthMax, readPathPattern, '/admin/*').meta({ description: texts.paths }),
    hostnames: entries(excludedHostLengthMax, readHostname, 'www.example.com').meta({ description: texts.hostnames }),
  })
  .partial()
  .meta({ id: 'ExclusionsUpdate' })

const list = (description: string, example: string) => z.array(z.string()).meta({ description, examples: [[example]] })

export const Exclusions = z
  .object({
    addresses: list(texts.addresses, '192.0.2.0/24'),
    countries: list(texts.countries, 'AQ'),
    paths: list(texts.paths, '/admin/*'),
    hostnames: list(texts.hostnames, 'www.example.com'),
  })
  .meta({ id: 'Exclusions' })

export const ExclusionsForCaller = Exclusions.extend({
  caller_address: z
    .string()
    .nullable()
    .meta({
      examples: ['203.0.113.9'],
      description:
        'The entry of `addresses` that leaves out whoever asks: of IPv6 the /64. Null: unknown, or of a local network.',
    }),
}).meta({ id: 'ExclusionsForCaller' })
