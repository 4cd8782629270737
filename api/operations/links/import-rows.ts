/**
 * Makes links of the rows of a file, each for itself: a row that is no link is refused with its reason, and the others go
 * on. A row whose link is there makes none, so the same file again makes nothing. With a key, a link is the same where its
 * destination is; without one, where label and destination are.
 */
import type { z } from 'zod'
import type { TrackedLink } from '../../../postgres/tables/links.ts'
import { holdLinkImports, linksOfDestinations, linksOfKeys } from '../../../postgres/tables/links-known.ts'
import { Problem } from '../../../schemas/errors/problems.ts'
import type { ValidationError } from '../../../schemas/errors/validation-errors.ts'
import { parsePart } from '../../../schemas/errors/zod-errors.ts'
import { isLinkKeyShaped } from '../../../schemas/link-key.ts'
import { LinkCreate } from '../../../schemas/resources/link.ts'
import type { ImportedRow } from '../../../schemas/resources/link-import.ts'
import { faultsOf, inOrderOfKeys, type LinkContext, makeLinks, takenText } from './new-links.ts'
import type { LinkRow } from './read-links-csv.ts'

type NewLink = z.output<typeof LinkCreate>

export interface ImportedLinks {
  readonly rows: ImportedRow[]
  readonly links: TrackedLink[]
}

/**
 * @param makes false: nothing is made, and `created` are the rows that would be. Else the context has a transaction, and
 *   imports of a workspace wait for each other until its end
 */
export async function importRows(
  rows: readonly LinkRow[],
  makes: boolean,
  context: LinkContext,
): Promise<ImportedLinks> {
  if (makes) await holdLinkImports(context.stores.pg, context.workspace.id)
  const known = await readKnown(rows, context)
  const made = new Map<number, TrackedLink>()
  const outcomes = new Map<LinkRow, ImportedRow>()
  for (const one of inOrderOfKeys(rows, ({ sent }) => keyOf(sent))) outcomes.set(one, await take(one))
  const imported = rows.map((one) => outcomes.get(one)!)
  const ids = new Set(imported.flatMap(({ link_id }) => link_id ?? []))
  return { rows: imported, links: [...ids].flatMap((id) => made.get(id) ?? []) }

  async function take({ row, sent }: LinkRow): Promise<ImportedRow> {
    const { label, destination_url } = sent
    const about = { row, label, key: keyOf(sent), destination_url }
    const parsed = parsePart('body', LinkCreate, sent)
    const judged = parsed.ok ? await judge(parsed.value) : { faults: parsed.errors }
    if ('faults' in judged) return { ...about, outcome: 'refused', reason: reasonOf(judged.faults), link_id: null }
    return { ...about, ...judged, reason: null }
  }

  async function judge(link: NewLink): Promise<Pick<ImportedRow, 'outcome' | 'link_id'> | Refused> {
    const before = known.find(link)
    if (before === 'taken') return { faults: [{ loc: ['body', 'key'], type: 'value_error', msg: takenText }] }
    if (before !== undefined) return { outcome: 'present', link_id: before.id }
    const tried = await tryToMake(link, makes, context)
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
  makes: boolean,
  context: LinkContext,
): Promise<{ readonly made: TrackedLink | null } | Refused> {
  try {
    if (makes) return { made: (await makeLinks([[['body'], link]], context))[0]! }
    const faults = await faultsOf([['body'], link], context)
    return faults.length > 0 ? { faults } : { made: null }
  } catch (error) {
    if (error instanceof Problem && typeof error.detail !== 'string') return { faults: error.detail }
    throw error
  }
}

/** Null: it would be made. */
type KnownId = { readonly id: number | null }

async function readKnown(rows: readonly LinkRow[], { workspace, stores: { pg } }: LinkContext) {
  // No link has others.
  const keys = rows.flatMap(({ sent }) => keyOf(sent) ?? []).filter(isLinkKeyShaped)
  const keyless = rows.filter(({ sent }) => keyOf(sent) === null).map(({ sent }) => sent)
  const byKey = new Map<string, KnownId & { readonly url: string | null }>()
  const byName = new Map<string, KnownId>()
  const nameOf = (link: { label: string; destination_url: string }) =>
    JSON.stringify([link.label, link.destination_url])
  for (const { attribution_key, workspace_id, id, destination_url } of await linksOfKeys(pg, keys)) {
    byKey.set(attribution_key, { id, url: workspace_id === workspace.id ? destination_url : null })
  }
  for (const link of await linksOfDestinations(pg, workspace.id, keyless)) byName.set(nameOf(link), link)
  return {
    /** Undefined: there is none. */
    find(link: NewLink): KnownId | 'taken' | undefined {
      if (link.key === null) return byName.get(nameOf(link))
      const before = byKey.get(link.key)
      return before === undefined || before.url === link.destination_url ? before : 'taken'
    },
    add(link: NewLink, id: number | null): void {
      if (link.key === null) byName.set(nameOf(link), { id })
      else byKey.set(link.key, { id, url: link.destination_url })
    },
  }
}

function keyOf(sent: LinkRow['sent']): string | null {
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
