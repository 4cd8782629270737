/** Data that ingest tells visitors by: the database of countries, and the lists of crawlers' addresses. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openCountries } from '../../ingest/enrich/countries.ts'
import { shippedListsFolder } from '../../ingest/verify/address-lists.ts'
import { readAddressList } from '../../schemas/address-list.ts'
import { addressListRefutesMs, botListsFolder } from '../../schemas/limits/bot-limits.ts'
import { addressLists } from '../../schemas/reference/bot-checks.ts'
import type { Installation } from '../installation.ts'
import { type Finding, failed, lineOf, ok, warning } from './finding.ts'

/** Without a database that can be used ingest doesn't start. */
export async function examineCountries({ config }: Pick<Installation, 'config'>): Promise<Finding[]> {
  const { countryDatabase } = config
  try {
    const countries = await openCountries(countryDatabase)
    if (countries === null) return [ok('countries', 'no address is looked up: COUNTRY_DATABASE is off')]
    return [ok('countries', countryDatabase === '' ? 'by the database that is installed' : `by ${countryDatabase}`)]
  } catch (error) {
    return [failed('countries', lineOf(error))]
  }
}

/** As ingest judges them: of a list that ships and one in the data folder the newer counts. */
export async function examineBotLists(
  { dataDir }: Pick<Installation, 'dataDir'>,
  now = Date.now(),
): Promise<Finding[]> {
  const folder = join(dataDir, botListsFolder)
  const old: string[] = []
  const problems: Finding[] = []
  let oldest = Number.POSITIVE_INFINITY
  for (const name of Object.keys(addressLists)) {
    const shipped = await dateOf(join(shippedListsFolder, `${name}.json`))
    const newer = await dateOf(join(folder, `${name}.json`))
    if (typeof newer === 'string') problems.push(warning('bots.addresses', `${name} in ${folder}: ${newer}`))
    const dates = [shipped, newer].filter((date) => typeof date === 'number')
    if (dates.length === 0) continue
    const date = Math.max(...dates)
    oldest = Math.min(oldest, date)
    if (now - date > addressListRefutesMs) old.push(name)
  }
  const day = new Date(oldest).toISOString().slice(0, 10)
  if (old.length === 0) return [...problems, ok('bots.addresses', `the oldest list is of ${day}`)]
  const text = `lists of ${day} or later are too old to show that a visit isn't a crawler's: ${old.join(', ')}`
  return [...problems, warning('bots.addresses', `${text}; svc bots update gets newer ones`)]
}

/** Undefined where there is none; a text says what is wrong with it. */
async function dateOf(path: string): Promise<number | string | undefined> {
  try {
    const read = readAddressList(await readFile(path, 'utf8'), Date.now())
    return read.ok ? read.list.date : read.problem
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : lineOf(error)
  }
}
