/** Whether the API lives, and whether its stores answer. An orchestrator restarts by the first, people look at both. */
import { withDeadline } from '../runtime/shutdown.ts'
import { healthDeadlineMs } from '../schemas/limits/store-limits.ts'

export interface Pingable {
  ping(): Promise<boolean>
}

export interface Health {
  readonly status: 'ok' | 'degraded'
  readonly stores: Readonly<Record<string, 'ok' | 'unreachable'>>
}

export async function readHealth(stores: Readonly<Record<string, Pingable>>): Promise<Health> {
  const answers = await Promise.all(
    Object.entries(stores).map(async ([name, store]) => {
      const isThere = await withDeadline(store.ping(), healthDeadlineMs, name).catch(() => false)
      return [name, isThere ? 'ok' : 'unreachable'] as const
    }),
  )
  const isWell = answers.every(([, answer]) => answer === 'ok')
  return { status: isWell ? 'ok' : 'degraded', stores: Object.fromEntries(answers) }
}
