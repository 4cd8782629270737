import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '../../runtime/files/durable-file.ts'
import { type AddressList, readAddressList, writeAddressList } from '../../schemas/address-list.ts'
import { addressListsAtOnceMax, botListsFolder } from '../../schemas/limits/bot-limits.ts'
import { addressLists } from '../../schemas/reference/bot-checks.ts'
import { makeTextFetcher } from '../bots/fetch-text.ts'
import { type FoundList, type ListSource, openListSource } from '../bots/list-sources.ts'
import { CommandFailed, defineCommand, UsageError } from '../command.ts'
import { table } from '../table.ts'

interface UpdatedList {
  readonly list: string
  readonly outcome: 'updated' | 'unchanged' | 'missing' | 'failed'
  readonly source: string | null
  readonly ranges: number | null
  readonly date: string | null
  readonly problem: string | null
}

export const updateBots = defineCommand({
  name: 'bots update',
  summary: 'Get the lists of addresses by which crawlers are verified. Running ingest takes them up within seconds.',
  options: {
    from: {
      value: 'FOLDER|URL',
      meaning: 'Where files `<list>.json` or `<list>.txt` are; without it each operator’s own.',
    },
    list: { value: 'NAME', meaning: 'Only this list; all of them when left out.' },
  },
  async run({ options, installation, progress, signal }) {
    const names = namesOf(options.text('list'))
    const folder = join(installation.dataDir, botListsFolder)
    const fetcher = makeTextFetcher(signal)
    try {
      const source = await openListSource(options.text('from'), fetcher)
      await mkdir(folder, { recursive: true })
      const lists: UpdatedList[] = []
      for (let at = 0; at < names.length; at += addressListsAtOnceMax) {
        if (signal.aborted) throw new CommandFailed('interrupted')
        progress.running(`${lists.length} of ${names.length} lists`)
        const some = names.slice(at, at + addressListsAtOnceMax)
        lists.push(...(await Promise.all(some.map((name) => update(name, source, join(folder, `${name}.json`))))))
      }
      return { folder, lists }
    } finally {
      await fetcher.close()
    }
  },
  show: ({ folder, lists }) =>
    [
      table(
        ['list', 'outcome', 'ranges', 'of', 'from'],
        lists.map(({ list, outcome, ranges, date, source, problem }) => [
          list,
          outcome,
          ranges === null ? '' : String(ranges),
          date ?? '',
          problem ?? source ?? '',
        ]),
      ),
      `in ${folder}`,
    ].join('\n'),
  exitCode: ({ lists }) =>
    lists.some(({ outcome }) => outcome === 'failed') || lists.every(({ outcome }) => outcome === 'missing') ? 1 : 0,
})

function namesOf(only: string | undefined): readonly string[] {
  const names = Object.keys(addressLists)
  if (only === undefined) return names
  if (names.includes(only)) return [only]
  throw new UsageError(`--list must be one of ${names.join(', ')}`)
}

/** A list that can't be had, or can't be used, leaves the one in force that is. */
async function update(name: string, source: ListSource, path: string): Promise<UpdatedList> {
  const found = await source.get(name)
  if (found.outcome === 'missing') return shown(name, 'missing', null)
  if (found.outcome === 'failed') return shown(name, 'failed', found.source, undefined, found.problem)
  const ranges = readAll(found)
  if (typeof ranges === 'string') return shown(name, 'failed', found.source, undefined, ranges)
  // As of now, whenever its operator has changed it last: that is how long it is known to be right.
  const list = { date: Date.now(), ranges }
  const before = readAddressList(await readFile(path, 'utf8').catch(() => ''), 0)
  const isSame = before.ok && before.list.ranges.join() === ranges.join()
  await writeFileDurably(path, writeAddressList(list), 0o644)
  return shown(name, isSame ? 'unchanged' : 'updated', found.source, list)
}

/** The ranges of all of a list's files; or what is wrong with one. */
function readAll({ texts }: Extract<FoundList, { outcome: 'found' }>): string[] | string {
  const ranges = new Set<string>()
  for (const text of texts) {
    const read = readAddressList(text, 0)
    if (!read.ok) return read.problem
    for (const range of read.list.ranges) ranges.add(range)
  }
  return [...ranges]
}

function shown(
  list: string,
  outcome: UpdatedList['outcome'],
  source: string | null,
  read?: AddressList,
  problem: string | null = null,
): UpdatedList {
  const date = read === undefined ? null : new Date(read.date).toISOString()
  return { list, outcome, source, ranges: read?.ranges.length ?? null, date, problem }
}
