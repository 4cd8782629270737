/**
 * Makes links of the rows of a file. A row that is no link is refused with its reason, and the others go on. A row
 * whose link exists makes none, so the same file again makes nothing. With a key, links of one destination are the
 * same; without a key, those of one label and destination. A domain counts only if it is the workspace's and verified:
 * files of other products name their own.
 */
import type { z } from 'zod'
import {
  type Domains,
  domainsOf,
  faultsOf,
  idOf,
  inOrderOfKeys,
  type KeyAndDomain,
  type LinkContext,
  type LinkSurroundings,
  makeLinks,
  takenText,
} from '../../../authoring/links/new-links.ts'
import { shortAddressesOf } from '../../../authoring/links/short-addresses.ts'
import type { TrackedLink } from '../../../postgres/tables/links/links.ts'
import { linksOfDestinations, linksOfKeys, lockLinkImports } from '../../../postgres/tables/links/links-known.ts'
import { Problem } from '../../../schemas/errors/problems.ts'
import type { ValidationError } from '../../../schemas/errors/validation-errors.ts'
import { parsePart } from '../../../schemas/errors/zod-errors.ts'
import { isLinkKeyShaped } from '../../../schemas/link-key.ts'
import { LinkCreate } from '../../../schemas/resources/link.ts'
import type { ImportedRow } from '../../../schemas/resources/link-import.ts'
import type { LinkRow } from './read-links-csv.ts'

type NewLink = z.output<typeof LinkCreate>

export interface ImportedLinks {
  readonly rows: ImportedRow[]
  readonly links: TrackedLink[]
}

type ImportMode = 'preview' | 'import'

/**
 * @param mode `preview`: nothing is made, and `created` are the rows that would be. `import`: the context has a
 *   transaction, and imports of a workspace wait for each other until its end
 */
export async function importRows(
  given: readonly LinkRow[],
  mode: ImportMode,
  context: LinkContext,
): Promise<ImportedLinks> {
  if (mode === 'import') await lockLinkImports(context.stores.pg, context.workspace.id)
  const domains = await domainsOf(
    given.map(({ sent }) => sent.domain),
    context,
  )
  const surroundings = { domains, isShort: await shortAddressesOf(context) }
  const rows = given.map(({ row, sent }) => ({ row, sent: { ...sent, domain: knownHost(sent.domain, domains) } }))
  const known = await readKnown(rows, domains, context)
  const made = new Map<number, TrackedLink>()
  const outcomes = new Map<LinkRow, ImportedRow>()
  for (const one of inOrderOfKeys(rows, ({ sent }) => ({ key: keyOf(sent), domain: sent.domain })))
    outcomes.set(one, await take(one))
  const imported = rows.map((one) => outcomes.get(one)!)
  const ids = new Set(imported.flatMap(({ link_id }) => link_id ?? []))
  return { rows: imported, links: [...ids].flatMap((id) => made.get(id) ?? []) }

  async function take({ row, sent }: LinkRow): Promise<ImportedRow> {
    const { label, destination_url } = sent
    const about = { row, label, key: keyOf(sent), domain: sent.domain, destination_url }
    const parsed = parsePart('body', LinkCreate, sent)
    const judged = parsed.ok ? await judge(parsed.value) : { faults: parsed.errors }
    if ('faults' in judged) return { ...about, outcome: 'refused', reason: reasonOf(judged.faults), link_id: null }
    return { ...about, ...judged, reason: null }
  }

  async function judge(link: NewLink): Promise<Pick<ImportedRow, 'outcome' | 'link_id'> | Refused> {
    const before = known.find(link)
    if (before === 'taken') return { faults: [{ loc: ['body', 'key'], type: 'value_error', msg: takenText }] }
    if (before !== undefined) return { outcome: 'present', link_id: before.id }
    const tried = await tryToMake(link, mode, surroundings, context)
    if ('faults' in tried) return tried
    if (tried.made !== null) made.set(tried.made.id, tried.made)
    const id = tried.made?.id ?? null
    known.add(link, id)
    return { outcome: 'created', link_id: id }
  }
}

interface Refused {
  readonly faults: readonly ValidationError[]
}

/** @returns no link where none is to be made */
async function tryToMake(
  link: NewLink,
  mode: ImportMode,
  surroundings: LinkSurroundings,
  context: LinkContext,
): Promise<{ readonly made: TrackedLink | null } | Refused> {
  try {
    if (mode === 'import') return { made: (await makeLinks([[['body'], link]], context, surroundings.isShort))[0]! }
    const faults = await faultsOf([['body'], link], surroundings, context)
    return faults.length > 0 ? { faults } : { made: null }
  } catch (error) {
    if (error instanceof Problem && typeof error.detail !== 'string') return { faults: error.detail }
    throw error
  }
}

/** Null: it would be made. */
type KnownId = { readonly id: number | null }

async function readKnown(rows: readonly LinkRow[], domains: Domains, { workspace, stores: { pg } }: LinkContext) {
  // No link has others.
  const places = rows.flatMap(({ sent }) => {
    const key = keyOf(sent)
    return key !== null && isLinkKeyShaped(key) ? [{ key, domainId: idOf(sent, domains) }] : []
  })
  const keyless = rows
    .filter(({ sent }) => keyOf(sent) === null)
    .map(({ sent: { label, destination_url, domain } }) => ({
      label,
      destination_url,
      domain_id: idOf({ domain }, domains),
    }))
  const byKey = new Map<string, KnownId & { readonly url: string | null }>()
  const byName = new Map<string, KnownId>()
  const nameOf = (link: { label: string; destination_url: string }, domainId: number | null) =>
    JSON.stringify([link.label, link.destination_url, domainId])
  const placeOf = (key: string, domainId: number | null) => `${domainId ?? ''}/${key}`
  for (const { attribution_key, domain_id, workspace_id, id, destination_url } of await linksOfKeys(pg, places)) {
    byKey.set(placeOf(attribution_key, domain_id), { id, url: workspace_id === workspace.id ? destination_url : null })
  }
  for (const link of await linksOfDestinations(pg, workspace.id, keyless)) {
    byName.set(nameOf(link, link.domain_id), link)
  }
  return {
    /** Undefined: there is none. */
    find(link: NewLink): KnownId | 'taken' | undefined {
      const domainId = idOf(link, domains)
      if (link.key === null) return byName.get(nameOf(link, domainId))
      const before = byKey.get(placeOf(link.key, domainId))
      return before === undefined || before.url === link.destination_url ? before : 'taken'
    },
    add(link: NewLink, id: number | null): void {
      const domainId = idOf(link, domains)
      if (link.key === null) byName.set(nameOf(link, domainId), { id })
      else byKey.set(placeOf(link.key, domainId), { id, url: link.destination_url })
    },
  }
}

/** Null: the installation's. */
function knownHost(text: string | null, domains: Domains): string | null {
  return text !== null && domains.has(text) ? text : null
}

function keyOf(sent: LinkRow['sent']): KeyAndDomain['key'] {
  return (sent['key'] as string | undefined) ?? null
}

function reasonOf(faults: readonly ValidationError[]): string {
  return faults.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg.replace(/^Value error, /, '')}`).join('; ')
}

/** How many rows came to each outcome. */
export function countOutcomes(rows: readonly ImportedRow[]): Record<ImportedRow['outcome'], number> {
  const count = (wanted: ImportedRow['outcome']) => rows.filter(({ outcome }) => outcome === wanted).length
  return { created: count('created'), present: count('present'), refused: count('refused') }
}
