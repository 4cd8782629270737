/**
 * Parameters by which advertising and mail platforms recognise a click. They say where a visit came from; their values,
 * which could name a person to the platform, are not kept.
 */
import { clickParameters } from './source-table.ts'
import type { Source } from './sources.ts'

export interface ClickId extends Source {
  /** Whether the platform adds it to paid clicks only: it then says more than the referrer. */
  readonly isPaid: boolean
}

const clickIds: ReadonlyMap<string, ClickId> = new Map(
  Object.entries(clickParameters).flatMap(([payment, text]) =>
    text
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [source = '', medium = '', ...names] = line.trim().split(/\s+/)
        const clickId = { source, medium, isPaid: payment === 'paid' }
        return names.map((name) => [name, clickId] as const)
      }),
  ),
)
const longestName = Math.max(...[...clickIds.keys()].map((name) => name.length))

/** Snapchat writes `ScCid`: the case doesn't matter. */
export function clickIdOf(parameter: string): ClickId | undefined {
  return parameter.length > longestName ? undefined : clickIds.get(parameter.toLowerCase())
}
