/** Referring sites: the source and medium that a visit from them has, by the one table of them. */
import { mediumOfKind, mediums, type SourceKind } from './mediums.ts'
import { sourcesByKind } from './source-table.ts'

export interface Source {
  readonly source: string
  readonly medium: string
}

export const direct: Source = { source: 'direct', medium: 'none' }

interface Entry extends Source {
  readonly kind: SourceKind
}

/** By their marks in the table: hosts, patterns, names. */
const entryByHost = new Map<string, Entry>()
const entryByPattern = new Map<string, Entry>()
const entryByName = new Map<string, Entry>()
for (const kind of Object.keys(sourcesByKind) as SourceKind[]) {
  for (const line of sourcesByKind[kind].trim().split('\n')) {
    const [source = '', ...words] = line.trim().split(/\s+/)
    const entry = { source, medium: mediumOfKind[kind], kind }
    for (const word of words) {
      if (word.endsWith('.*')) entryByPattern.set(word.slice(0, -2), entry)
      else (word.includes('.') ? entryByHost : entryByName).set(word, entry)
    }
    // Advertisements lead under the name of the search engine, which stands for itself.
    if (!entryByName.has(source)) entryByName.set(source, entry)
  }
}

/** The source that a visit from this host has: one of the table, or else the host itself, as a referral. In lower case. */
export function sourceOfHost(host: string): Source {
  const entry = entryOfHost(host)
  if (entry !== undefined && entry.kind !== 'shop') return entry
  const medium = entry === undefined && host.startsWith('webmail.') ? mediums.email : mediums.referral
  return { source: host.replace(/^www\./, ''), medium }
}

/** A source's kind, by its name in the table or its host, in lower case; undefined for one that isn't in it. */
export function kindOfSource(source: string): SourceKind | undefined {
  return (entryByName.get(source) ?? entryOfHost(source))?.kind
}

function entryOfHost(host: string): Entry | undefined {
  for (let at = 0; ; ) {
    const found = entryByHost.get(at === 0 ? host : host.slice(at))
    if (found !== undefined) return found
    at = host.indexOf('.', at) + 1
    if (at === 0) return entryOfCountryHost(host)
  }
}

const countrySuffix = /\.(com|net|cat|[a-z]{2}|com?\.[a-z]{2})$/

/** Finds `www.google.co.uk` by `google.*`. */
function entryOfCountryHost(host: string): Entry | undefined {
  const suffix = countrySuffix.exec(host)
  if (suffix === null) return undefined
  const stem = host.slice(0, suffix.index)
  const found = entryByPattern.get(stem.replace(/^(www|m)\./, ''))
  if (found !== undefined) return found
  for (let at = stem.indexOf('.'); at >= 0; at = stem.indexOf('.', at + 1)) {
    const below = entryByPattern.get(`*${stem.slice(at)}`)
    if (below !== undefined) return below
  }
  return undefined
}
