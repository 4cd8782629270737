/**
 * Imports the pages of an access log around the public interface, for times that it refuses. Ingest's own code validates
 * and enriches the events. The same log imported twice changes nothing; see cli/imports/row-store.ts.
 */
import { nowhere } from '../../ingest/enrich/countries.ts'
import type { Workspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { counted } from '../../schemas/errors/validation-errors.ts'
import { validateBatchEvent } from '../../schemas/event/event-validator.ts'
import { readableDays, readableFrom } from '../../schemas/time/readable-from.ts'
import type { Invocation } from '../command.ts'
import { inImportTurn } from '../imports/import-turn.ts'
import { makeImportEnricher, openRowStore } from '../imports/row-store.ts'
import { makeImportOwnership } from './import-ownership.ts'
import type { PageEventSource } from './page-events.ts'
import type { SendCounts } from './send.ts'
import { retrying } from './store-once.ts'

/** Called with the number of events that are dealt with. @param isOver all of them */
export type ShowProgress = (sent: number, isOver?: boolean) => void

interface ImportOptions extends Pick<Invocation, 'installation' | 'progress' | 'signal'> {
  readonly source: PageEventSource
  readonly workspace: Workspace
  readonly showProgress: ShowProgress
}

export async function importEvents(options: ImportOptions): Promise<SendCounts> {
  const { source, installation, workspace, progress, signal, showProgress } = options
  const followed = makeImportOwnership(installation.postgres(), workspace.id)
  const { enricher, countries } = await makeImportEnricher(installation, followed.ownership)
  const counts: SendCounts = { sent: 0, accepted: 0, deduplicated: 0, rejected: 0, retries: 0 }
  const oldest = readableFrom(workspace, Date.now())
  let hidden = 0

  await inImportTurn({ installation, workspaceId: workspace.id, signal }, async (turn) => {
    const store = openRowStore({ installation, turn, counts, signal })
    for await (const portion of source.events()) {
      await retrying(signal, () => followed.learn(portion.map(({ event }) => event.url)))
      for (const { event, address } of portion) {
        counts.sent++
        const occurredAt = Date.parse(event.occurred_at)
        // Received when it happened: an import is as old as it likes. Only the address's place goes on.
        const { country, area } = countries?.placeOf(address) ?? nowhere
        const sender = { address: '', userAgent: '', country, area, receivedAt: occurredAt }
        const enriched = validateBatchEvent(event, 0) === null ? enricher.enrich(event, sender, workspace) : undefined
        if (enriched === undefined || enriched.stream === 'rejected') {
          counts.rejected++
          continue
        }
        counts.accepted++
        if (occurredAt < oldest) hidden++
        await store.add(enriched)
      }
      showProgress(counts.sent)
    }
    await store.finish()
    showProgress(counts.sent, true)
  })
  if (hidden > 0) progress.line(hiddenNotice(hidden, workspace))
  return counts
}

/** Tells of events that are older than the workspace may read. */
export function hiddenNotice(hidden: number, workspace: Workspace): string {
  const are = hidden === 1 ? 'is' : 'are'
  const events = counted(hidden, 'event')
  return `${events} ${are} older than the ${readableDays(workspace)} days that can be read, and will be deleted`
}
