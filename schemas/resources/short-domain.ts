/** Short domains: the input that adds one, and how it is shown. docs/links.md says how they are proven. */
import { z } from 'zod'
import { valueError } from '../errors/validation-errors.ts'
import type { Build } from '../errors/zod-errors.ts'
import { sentDomainLengthMax } from '../limits/domain-limits.ts'
import { domainFailures, readShortDomain } from '../short-domain.ts'
import { dateTime } from './date-time.ts'
import { destinationUrl } from './destination-url.ts'
import { objectId } from './object-id.ts'

/** A host in the one form that is stored. */
export const shortDomain = z
  .string()
  .superRefine((text, context) => {
    if (text.length <= sentDomainLengthMax && readShortDomain(text) !== null) return
    const fault = 'a domain is like go.example.com, without scheme, port and path'
    const build: Build = (loc) => valueError(loc, text, fault)
    context.addIssue({ code: 'custom', params: { build } })
  })
  .overwrite((text) => readShortDomain(text) ?? text)

const url = destinationUrl.nullable()
const addresses = {
  root_url: url.meta({ description: 'Where `/` leads; null: a 404 page.', examples: ['https://www.example.com/'] }),
  not_found_url: url.meta({ description: 'Where unknown keys lead; null: a 404 page.', examples: [null] }),
}

export const ShortDomainCreate = z
  .object({
    host: shortDomain.meta({ examples: ['go.example.com'] }),
    root_url: addresses.root_url.default(null),
    not_found_url: addresses.not_found_url.default(null),
  })
  .meta({ id: 'ShortDomainCreate' })

export const ShortDomainUpdate = z.object(addresses).partial().meta({ id: 'ShortDomainUpdate' })

export const ShortDomain = z
  .object({
    id: z.int(),
    object_id: objectId('domain'),
    host: z.string().meta({ description: 'In lower case and ASCII.', examples: ['go.example.com'] }),
    status: z.enum(['pending', 'verified']).meta({ description: 'Only a verified one serves.' }),
    record: z
      .object({ type: z.literal('TXT'), name: z.string(), value: z.string() })
      .meta({ description: 'The DNS record that proves the host.' }),
    verified_at: dateTime.nullable(),
    checked_at: dateTime.nullable(),
    failure: z.enum(domainFailures).nullable().meta({ description: 'Of the last check.' }),
    root_url: z.string().nullable(),
    not_found_url: z.string().nullable(),
    created_at: dateTime,
  })
  .meta({ id: 'ShortDomain' })
