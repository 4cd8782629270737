/**
 * The lists of addresses that operators publish: those that ship with the product, and newer ones in the data folder,
 * which `svc bots update` writes. The folder is looked at every few seconds, so that a running ingest takes them up.
 * The newer one of two lists counts. A list that can't be read leaves the one in force.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../runtime/clock.ts'
import { ifMissing } from '../../runtime/files/missing-file.ts'
import type { Log } from '../../runtime/log.ts'
import { projectFile } from '../../runtime/paths.ts'
import { readAddressList } from '../../schemas/address-list.ts'
import { addressListBytesMax, addressListPollMs } from '../../schemas/limits/bot-limits.ts'
import { addressLists } from '../../schemas/reference/bot-checks.ts'
import { type AddressRanges, makeAddressRanges } from './address-ranges.ts'

/** Those that ship: files `<list>.json`. */
export const shippedListsFolder = projectFile('schemas/reference/bot-addresses')

interface DatedRanges extends AddressRanges {
  /** When the operator published it, or it was got, in milliseconds since 1970. */
  readonly date: number
}

export interface AddressLists {
  start(): Promise<void>
  /** Undefined where nobody has got it. */
  find(name: string): DatedRanges | undefined
  close(): Promise<void>
}

interface KnownFile {
  readonly version: string
  readonly ranges: DatedRanges | undefined
}

/** @param folder holds lists that are newer than those that ship; it need not be there */
export function makeAddressListTable({ folder, clock, log }: { folder: string; clock: Clock; log: Log }): AddressLists {
  const shipped = new Map<string, DatedRanges>()
  /** Files of the folder, by the name of their list. */
  let known = new Map<string, KnownFile>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let isClosed = false

  async function readRanges(path: string, date: number): Promise<DatedRanges | undefined> {
    try {
      const { size } = await stat(path)
      if (size > addressListBytesMax) throw new Error(`it is larger than ${addressListBytesMax} bytes`)
      const read = readAddressList(await readFile(path, 'utf8'), date)
      if (!read.ok) throw new Error(read.problem)
      return { date: read.list.date, ...makeAddressRanges(read.list.ranges) }
    } catch (error) {
      log.error({ err: error, path }, 'a list of crawler addresses can’t be used')
      return undefined
    }
  }

  async function look(): Promise<void> {
    const names = (await readdir(folder).catch(ifMissing<string[]>([]))).filter((name) => name.endsWith('.json'))
    const found = new Map<string, KnownFile>()
    for (const file of names) {
      const name = file.slice(0, -'.json'.length)
      if (!Object.hasOwn(addressLists, name)) continue
      const path = join(folder, file)
      const facts = await stat(path).catch(ifMissing(null))
      if (facts === null) continue
      const version = `${facts.ino} ${facts.mtimeMs} ${facts.size}`
      const before = known.get(name)
      if (before?.version === version) found.set(name, before)
      else {
        const ranges = await readRanges(path, facts.mtimeMs)
        found.set(name, { version, ranges: ranges ?? before?.ranges })
        if (ranges !== undefined)
          log.info({ list: name, date: new Date(ranges.date) }, 'took up a list of crawler addresses')
      }
    }
    known = found
  }

  function poll(): void {
    looking = look()
      .catch((error) => log.error({ err: error }, 'the lists of crawler addresses can’t be looked at'))
      .finally(() => {
        if (isClosed) return
        timer = setTimeout(poll, addressListPollMs)
        timer.unref()
      })
  }

  return {
    start: async () => {
      for (const name of Object.keys(addressLists)) {
        const path = join(shippedListsFolder, `${name}.json`)
        const isThere = await stat(path).then(
          () => true,
          () => false,
        )
        const ranges = isThere ? await readRanges(path, clock.now()) : undefined
        if (ranges !== undefined) shipped.set(name, ranges)
      }
      poll()
      await looking
    },
    find: (name) => {
      const newer = known.get(name)?.ranges
      const own = shipped.get(name)
      return newer !== undefined && (own === undefined || newer.date >= own.date) ? newer : own
    },
    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await looking
    },
  }
}
