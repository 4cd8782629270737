/** A hundred events a request, beside R with single ones. */
import type { BenchSettings, EventCounts, ScenarioResult } from '../bench.ts'
import { Installation } from '../installation.ts'
import { ratioFigures, runPairs } from '../measure/pairs.ts'
import { productSide, referenceSide, startReference } from '../references/reference.ts'

const connections = 64
const eventsPerRequest = 100

export async function ingestBatch(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort } = settings
  const installation = await Installation.start(cores)
  const counts: EventCounts = { sent: 0, acknowledged: 0, stored: 0, repeated: 0 }
  try {
    const reference = await startReference(installation.folder, cores)
    const seconds = isShort ? 1 : 5
    const requestsMax = isShort ? 10_000 : 1_500_000
    const pairs = await runPairs(
      {
        installation,
        reference: referenceSide(reference, installation),
        product: productSide(installation, 'track/batch'),
        settings,
        counts,
      },
      {
        reference: { connections, eventsPerRequest: 1 },
        product: { connections, eventsPerRequest },
        seconds,
        // Bounds requests of either side; batches are a hundred times as many events.
        requestsMax,
      },
    )
    await reference.stop()
    return {
      figures: ratioFigures(pairs, 'events in batches of 100 ÷ R with single ones, 64 connections', {
        firstStage: 1.5,
        goal: 3,
      }),
      counts,
      remarks: pairs.remarks,
      settings: { connections, eventsPerRequest, seconds, requestsMax },
      rounds: pairs.all,
    }
  } finally {
    await installation.stop()
  }
}
