/** Opens a thread's crawler checks: the operators' address lists and, if the settings allow it, DNS. */
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { makeAddressListTable } from './address-lists.ts'
import { makeReverseDns } from './reverse-dns.ts'
import { type BotVerifier, makeBotVerifier } from './verify-bot.ts'

export interface BotChecks {
  readonly verifier: BotVerifier
  close(): Promise<void>
}

export interface BotCheckOptions {
  /** Holds lists that are newer than those that ship. */
  readonly folder: string
  /** DNS servers; undefined: the system's; an empty list: no DNS. */
  readonly servers: readonly string[] | undefined
  readonly clock: Clock
  readonly log: Log
}

export async function openBotChecks({ folder, servers, clock, log }: BotCheckOptions): Promise<BotChecks> {
  const lists = makeAddressListTable({ folder, clock, log })
  await lists.start()
  const dns = servers?.length === 0 ? undefined : makeReverseDns({ servers })
  return {
    verifier: makeBotVerifier({ lists, dns }),
    close: async () => {
      dns?.close()
      await lists.close()
    },
  }
}
