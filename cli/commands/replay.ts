import { createHash, createHmac } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { currentTrackingKey } from '../../postgres/tables/tracking-keys.ts'
import { isBotAgent } from '../../schemas/reference/bots.ts'
import { CommandFailed, defineCommand, type Invocation, type OptionValues, UsageError } from '../command.ts'
import type { Installation } from '../installation.ts'
import { toBatches } from '../replay/batches.ts'
import { importEvents } from '../replay/import-events.ts'
import { type PageEventSource, readPageEvents } from '../replay/page-events.ts'
import { makeSender, type SendCounts } from '../replay/send.ts'
import { surveyLog } from '../replay/survey.ts'
import { chooseTiming, type Speed, type Timing } from '../replay/timing.ts'

export const replay = defineCommand({
  name: 'replay',
  summary: 'Replay an access log (Combined Log Format, plain or gzipped) as pageviews through the public interface.',
  argument: 'FILE',
  options: {
    'shift-to-now': { meaning: 'Move the log in time so that it ends now; more than 48 hours are pressed into 48.' },
    'shift-to': { value: 'TIME', meaning: 'The same, ending at this RFC 3339 time: a repeat counts nothing twice.' },
    speed: { value: 'max|N', meaning: 'As fast as it can (max, without it), or at N times real time.' },
    import: { meaning: 'Write straight into the stores, with times as old as they are.' },
    site: { value: 'URL', meaning: 'Where the paths belong; without it the site that the log refers to most.' },
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
    'tracking-url': { value: 'URL', meaning: 'Root of the tracking interface, in place of the found one.' },
    'tracking-key': { value: 'KEY', meaning: 'The public key to send with, in place of the found one.' },
  },
  async run({ options, argument, installation, progress, signal }) {
    const path = resolve(argument)
    const speed = readSpeed(options.text('speed'))
    const shiftTo = readShift(options)
    const site = options.httpUrl('site')?.origin
    const isImport = options.flag('import')
    if (isImport && speed !== 'max') throw new UsageError("--speed doesn't go with --import")
    const workspaceId = options.id('workspace')

    const survey = await surveyLog(path, signal)
    if (survey.lastTime === 0) throw new CommandFailed(`${argument} has no page request in Combined Log Format`)
    const timing = chooseTiming(survey, { shiftTo, speed, isImport, now: Date.now() })
    const target = isImport ? undefined : await findTarget(options, installation, workspaceId)
    const chosenSite = site ?? survey.site ?? 'http://localhost'
    progress.line(
      `${survey.lines} lines of ${chosenSite}, placed ${timing.description.first} to ${timing.description.last}`,
    )

    const key = hashKey(installation, target?.trackingKey)
    const source = await readPageEvents(path, { site: chosenSite, timing, key, isBot: isBotAgent, signal })
    const startedAt = performance.now()
    const showProgress = makeShow({ progress, source, size: (await stat(path)).size, startedAt })
    const counts = target
      ? await sendAll({ source, timing, target, progress, signal, showProgress })
      : await importEvents({
          source,
          installation,
          workspace: await installation.workspace(workspaceId),
          progress,
          signal,
          showProgress,
        })
    const seconds = (performance.now() - startedAt) / 1000
    return {
      file: path,
      site: chosenSite,
      ...source.counts,
      ...counts,
      seconds: round(seconds),
      mb_per_second: round(source.reader.textBytes() / 1e6 / seconds),
      first_occurred_at: timing.description.first,
      last_occurred_at: timing.description.last,
      time_scale: timing.description.scale,
    }
  },
  show: (summary) =>
    Object.entries(summary)
      .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`)
      .join('\n'),
})

async function sendAll({
  source,
  timing,
  target,
  progress,
  signal,
  showProgress,
}: Pick<Invocation, 'progress' | 'signal'> & {
  source: PageEventSource
  timing: Timing
  target: { trackingUrl: string; trackingKey: string }
  showProgress: (sent: number) => void
}): Promise<SendCounts> {
  const sender = makeSender(target, progress, signal)
  try {
    for await (const batch of toBatches(source.events(), timing, signal)) {
      await sender.send(batch)
      showProgress(sender.counts.sent)
    }
    await sender.finish()
    if (timing.resumeWith) progress.line(`${timing.resumeWith} in place of --shift-to-now would count nothing twice`)
    return sender.counts
  } catch (error) {
    const resume = timing.resumeWith && `; ${timing.resumeWith} takes it up again`
    progress.line(`${sender.counts.sent} events were sent${resume ?? ''}`)
    throw error
  } finally {
    await sender.close()
  }
}

/** The interface and key to send with: as said, else the running product's, else those of the stores. */
async function findTarget(options: OptionValues, installation: Installation, workspaceId: number | undefined) {
  const trackingUrl = options.httpUrl('tracking-url')?.href
  const said = options.text('tracking-key') ?? (workspaceId ? undefined : installation.runningTrackingKey())
  return {
    trackingUrl: trackingUrl?.replace(/\/+$/, '') ?? installation.trackingUrl(),
    trackingKey: said ?? (await storedKey(installation, workspaceId)),
  }
}

async function storedKey(installation: Installation, workspaceId: number | undefined): Promise<string> {
  const workspace = await installation.workspace(workspaceId)
  const key = await currentTrackingKey(installation.postgres(), workspace.id)
  if (key === null) throw new CommandFailed(`workspace ${workspace.id} has no tracking key`)
  return key
}

/**
 * What addresses are hashed with before anything leaves this process: from the installation's secret where it is at hand,
 * so that visitors are the same in the next file and nobody else can try addresses; else from the tracking key.
 */
function hashKey(installation: Installation, trackingKey: string | undefined): Buffer {
  const secret = installation.secretKey()
  if (secret !== undefined) return createHmac('sha256', secret).update('svc replay').digest()
  return createHash('sha256').update(`svc replay\0${trackingKey}`).digest()
}

function readSpeed(text: string | undefined): Speed {
  if (text === undefined || text === 'max') return 'max'
  const speed = Number(text)
  if (Number.isFinite(speed) && speed > 0) return speed
  throw new UsageError(`--speed must be max or a number above 0, got \`${text}\``)
}

function readShift(options: OptionValues): number | undefined {
  const at = options.time('shift-to')
  if (!options.flag('shift-to-now')) return at
  if (at !== undefined) throw new UsageError("--shift-to doesn't go with --shift-to-now")
  return Date.now()
}

function makeShow({
  progress,
  source,
  size,
  startedAt,
}: Pick<Invocation, 'progress'> & { source: PageEventSource; size: number; startedAt: number }) {
  return (sent: number) => {
    const share = size === 0 ? 100 : (source.reader.bytesRead() / size) * 100
    const rate = sent / ((performance.now() - startedAt) / 1000)
    progress.running(`${share.toFixed(0)} % read, ${sent} sent, ${rate.toFixed(0)} a second`)
  }
}

function round(number: number): number {
  return Math.round(number * 100) / 100
}
