/**
 * Many events go in, in batches over 20 workspaces. Meanwhile 16 clients ask for their overviews every ten seconds
 * each, as open dashboards do. Measures errors, whether the backlog and memory stay flat, and how much slower overviews
 * are than on the quiet machine. Each workspace gets an event a second: before, of far fewer events, and afterwards, of
 * the same ones; and when none comes at all. The product may use both cores, as on any machine of two.
 */
import { type AskRound, askAndCount } from '../asking.ts'
import type { BenchSettings, EventCounts, Figure, ScenarioResult } from '../bench.ts'
import { countSeeded, seed, untilFolded, untilSettled } from '../data/seeded.ts'
import { startTrickle } from '../data/trickle.ts'
import { allServices, Installation } from '../installation.ts'
import type { Question } from '../load/load-plan.ts'
import { lastDays, repeatedQuestion } from '../load/questions.ts'
import { onBoth } from '../measure/cores.ts'
import { backlogCourse, lagOf, type Sample, watchFreshness } from '../measure/freshness.ts'
import { type MemoryCourse, watchMemory } from '../measure/memory.ts'
import { type PairOptions, runCounted } from '../measure/pairs.ts'
import type { Shape } from '../measure/round.ts'
import { productSide } from '../references/reference.ts'

const workspaces = 20
const days = 30
const seededEvents = 1_000_000
const clients = 16
const askEverySeconds = 10
const eventsPerRequest = 20
/** For the newest visible event and for what waits. Four looks a second took three hundredths of the machine. */
const lookEveryMs = 1_000
const month = lastDays(days)

export async function mixed(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, say, mixedRate } = settings
  const seconds = isShort ? 4 : settings.sustainedSeconds
  // Short: little enough for a machine that others use too.
  const asksPerSecond = isShort ? 1 : clients / askEverySeconds
  const stillSeconds = isShort ? 2 : 120
  // On a machine that others use, p95 of two minutes was 1.3 or 4 times that of others: 190 asks have ten that are slower.
  const quietSeconds = isShort ? 2 : 300
  const installation = await Installation.start(cores, { services: allServices, side: 'both' })
  const counts: EventCounts = { sent: 0, acknowledged: 0, stored: 0, repeated: 0 }
  try {
    const events = isShort ? 5_000 : seededEvents
    const seeded = await seed(installation, { events, workspaces, days })
    await untilSettled(installation)
    const questions = seeded.workspaces
      .slice(0, clients)
      .flatMap(({ api_key }): Question[] => repeatedQuestion(month, api_key))
    const asking = (forSeconds: number) => {
      const requests = Math.ceil(asksPerSecond * forSeconds)
      return askAndCount(installation, { questions, connections: clients, requests, rate: asksPerSecond }, settings)
    }
    const trackingKeys = seeded.workspaces.map(({ tracking_key }) => tracking_key)
    const askingQuietly = async (when: string) => {
      const endTrickle = startTrickle(installation, trackingKeys)
      // So that no dashboard is one that nobody has had open for a while.
      await asking(isShort ? 1 : 2 * askEverySeconds)
      const round = await asking(quietSeconds)
      const { sent, acknowledged } = await endTrickle()
      counts.sent += sent
      counts.acknowledged += acknowledged
      say(`  an event a second, ${when}: overviews p50 ${round.latency.p50}, p95 ${round.latency.p95} ms`)
      return round
    }
    await asking(2)
    const still = await asking(stillSeconds)
    say(`  nothing comes: overviews p50 ${still.latency.p50}, p95 ${still.latency.p95} ms`)
    const before = await askingQuietly('before')

    const product = productSide(installation, 'track/batch', trackingKeys)
    const options: PairOptions = { installation, reference: product, product, settings, counts }
    const rate = Math.max(1, Math.round(mixedRate / eventsPerRequest))
    const shape: Shape = { connections: 64, eventsPerRequest, rate, isSparing: true, hasBusyPages: true }
    const endWatch = watchFreshness(installation, lookEveryMs)
    const endMemory = watchMemory(processesOf(installation))
    let samples: Sample[] = []
    let memory: MemoryCourse[] = []
    const [round, busy] = await Promise.all([
      runCounted(options, shape, rate * seconds, async () => {
        samples = await endWatch()
        memory = await endMemory()
      }),
      asking(seconds),
    ])
    await untilFolded(installation)
    const after = await askingQuietly('afterwards')
    await untilFolded(installation)
    // A day more on either side: midnight may pass meanwhile.
    const shown = await countSeeded(installation, seeded, days + 2)
    const course = backlogCourse(samples)
    say(
      `  busy: ${busy.errors} errors, overviews p50 ${busy.latency.p50}, p95 ${busy.latency.p95} ms; ${describe(memory)}`,
    )
    return {
      figures: [
        {
          measure: `p95 of overviews, 30 days, beside ${mixedRate} events/s ÷ with an event a second in each workspace, before`,
          value: busy.latency.p95 / before.latency.p95,
          unit: 'times',
          goal: 2,
        },
        {
          measure: 'the same ÷ with an event a second afterwards, of the same events',
          value: busy.latency.p95 / after.latency.p95,
          unit: 'times',
          goal: 2,
        },
        { measure: `overviews of ${busy.sent} not answered with 200`, value: busy.errors, unit: 'errors', goal: 0 },
        p95Of('p95 of overviews beside the events', busy),
        p95Of('p95 of overviews with an event a second, before', before),
        p95Of('p95 of overviews with an event a second, afterwards', after),
        p95Of('p95 of overviews when nothing comes', still),
        { measure: 'events taken', value: round.eventsPerSecond, unit: 'events/s', latency: round.latency },
        { measure: 'age of the newest visible event, p99', value: lagOf(samples).p99, unit: 'ms' },
        { measure: 'waiting log, most', value: course.max / 1_000_000, unit: 'MB' },
      ],
      counts: {
        ...counts,
        sent: counts.sent + events,
        acknowledged: counts.acknowledged + events,
        // Seeded and sent events in the overviews.
        stored: shown.acknowledged,
      },
      remarks: [
        `Waiting log: ${course.isFlat ? 'flat' : 'NOT FLAT, the rate is more than is shipped'}.`,
        `Memory: ${describe(memory)}.`,
        'Stored are the events that the overviews of all workspaces show, those seeded before included.',
        ...(round.eventsPerSecond < mixedRate * 0.99 ? ['The rate was not held.'] : []),
        ...(round.disturbedBy === '' ? [] : [`Others had over 10 % of a core: ${round.disturbedBy}.`]),
      ],
      // As for real, where nothing keeps a process to one core.
      ...onBoth(cores),
      settings: { ...shape, seconds, workspaces, seededEvents: events, clients, askEverySeconds },
      rounds: [still, before, busy, round, after, { memory, backlog: course }],
    }
  } finally {
    await installation.stop()
  }
}

function p95Of(measure: string, { latency }: AskRound): Figure {
  return { measure, value: latency.p95, unit: 'ms', latency }
}

function processesOf(installation: Installation): Record<string, number> {
  const services = allServices.map((name) => [name, installation.service(name).pid] as const)
  return { ...Object.fromEntries(services), clickhouse: installation.storePid('clickhouse') }
}

function describe(memory: readonly MemoryCourse[]): string {
  return memory
    .map(({ name, early, late, isFlat }) => {
      const megabytes = `${Math.round(early)} to ${Math.round(late)} MB`
      return `${name} ${megabytes}${isFlat ? '' : ' NOT FLAT'}`
    })
    .join(', ')
}
