/** Copy of the daily salts on disk, for restarts while Postgres is away. */
import { readFile } from 'node:fs/promises'
import { writeFileDurably } from '../../runtime/files/durable-file.ts'
import type { Log } from '../../runtime/log.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'

export interface Salt {
  readonly bytes: Buffer
  /** Whether Postgres has it: until then it is this node's alone. */
  readonly isShared: boolean
}

export interface SaltCopyOptions {
  /** The copy on disk. */
  readonly file: string
  /** One thread of a node keeps the copy; the others only start from it. */
  readonly keepsCopy?: boolean
  readonly log: Log
}

/** By the number of the day since 1970. */
export interface SaltCopy {
  /** Nothing where there is none, or none that can be read. */
  read(): Promise<[day: number, salt: Salt][]>
  write(salts: ReadonlyMap<number, Salt>): Promise<void>
}

type Written = Record<string, { salt: string; isShared: boolean }>

export function makeSaltCopy({ file, keepsCopy = true, log }: SaltCopyOptions): SaltCopy {
  return {
    async read() {
      try {
        const days = JSON.parse(await readFile(file, 'utf8')) as Written
        return Object.entries(days).map(([name, { salt, isShared }]) => [
          Date.parse(name) / dayMs,
          { bytes: Buffer.from(salt, 'base64'), isShared },
        ])
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
          log.warn({ err: error }, 'the copy of the visitor salts could not be read')
        }
        return []
      }
    },

    async write(salts) {
      if (!keepsCopy) return
      const days = [...salts].map(([day, { bytes, isShared }]) => [
        nameOf(day),
        { salt: bytes.toString('base64'), isShared },
      ])
      try {
        await writeFileDurably(file, JSON.stringify(Object.fromEntries(days)))
      } catch (error) {
        log.error({ err: error }, 'the copy of the visitor salts could not be written')
      }
    },
  }
}

/** `YYYY-MM-DD`. */
export function nameOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
