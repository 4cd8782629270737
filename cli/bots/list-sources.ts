/** Where `svc bots update` takes a list of addresses from: its operator, a folder, or a mirror of such a folder. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isSecureUrl } from '../../runtime/secure-url.ts'
import { addressListBytesMax } from '../../schemas/limits/bot-limits.ts'
import { addressLists } from '../../schemas/reference/bot-checks.ts'
import { UsageError } from '../command.ts'
import type { TextFetcher } from './fetch-text.ts'

export type FoundList =
  | { readonly outcome: 'found'; readonly texts: readonly string[]; readonly source: string }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'failed'; readonly source: string; readonly problem: string }

export interface ListSource {
  /** Never rejects. */
  get(name: string): Promise<FoundList>
}

/** Files of a list, in a folder or behind a URL: the first that is there. */
const endings = ['.json', '.txt'] as const

/**
 * @param place a folder or the URL of one; undefined: each list's own operator
 * @throws UsageError where it can be neither
 */
export async function openListSource(place: string | undefined, fetcher: TextFetcher): Promise<ListSource> {
  if (place === undefined) return fromOperators(fetcher)
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(place)) {
    if (!URL.canParse(place) || !isSecureUrl(new URL(place)))
      throw new UsageError('--from must be a folder or an https URL')
    return fromMirror(place.replace(/\/*$/, '/'), fetcher)
  }
  const isFolder = await stat(place).then(
    (facts) => facts.isDirectory(),
    () => false,
  )
  if (!isFolder) throw new UsageError(`--from: there is no folder ${place}`)
  return fromFolder(place)
}

function fromOperators(fetcher: TextFetcher): ListSource {
  return {
    get: async (name) => {
      const urls = addressLists[name]!
      if (urls.length === 0) return { outcome: 'missing' }
      const source = urls.join(' ')
      const texts: string[] = []
      for (const url of urls) {
        const fetched = await fetcher.fetch(url)
        // Half of a list would refute the addresses of the other half.
        if (!fetched.ok) return { outcome: 'failed', source, problem: fetched.problem }
        texts.push(fetched.text)
      }
      return { outcome: 'found', texts, source }
    },
  }
}

function fromMirror(base: string, fetcher: TextFetcher): ListSource {
  return {
    get: async (name) => {
      for (const ending of endings) {
        const source = new URL(`${name}${ending}`, base).href
        const fetched = await fetcher.fetch(source)
        if (fetched.ok) return { outcome: 'found', texts: [fetched.text], source }
        if (!fetched.isMissing) return { outcome: 'failed', source, problem: fetched.problem }
      }
      return { outcome: 'missing' }
    },
  }
}

function fromFolder(folder: string): ListSource {
  return {
    get: async (name) => {
      for (const ending of endings) {
        const source = join(folder, `${name}${ending}`)
        try {
          const { size } = await stat(source)
          if (size > addressListBytesMax) {
            return { outcome: 'failed', source, problem: `it is larger than ${addressListBytesMax} bytes` }
          }
          return { outcome: 'found', texts: [await readFile(source, 'utf8')], source }
        } catch (error) {
          const { code, message } = error as NodeJS.ErrnoException
          if (code !== 'ENOENT') return { outcome: 'failed', source, problem: message }
        }
      }
      return { outcome: 'missing' }
    },
  }
}
