import { createHash, createHmac } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { currentTrackingKey } from '../../postgres/tables/workspaces/tracking-keys.ts'
import { isBotAgent, namedBotOf } from '../../schemas/reference/bots.ts'
import {
  CommandFailed,
  defineCommand,
  type Invocation,
  type OptionValues,
  UsageError,
  workspaceOption,
} from '../command.ts'
import type { Installation } from '../installation.ts'
import { toBatches } from '../replay/batches.ts'
import { readBotVisits, type VisitSource } from '../replay/bot-visits.ts'
import { importEvents, type ShowProgress } from '../replay/import-events.ts'
import type { LogLine } from '../replay/log-line.ts'
import { type PageEventSource, readPageEvents } from '../replay/page-events.ts'
import { isPageRequest } from '../replay/page-request.ts'
import { botRoute, makeSender, pageRoute, type SendCounts, type SendTarget } from '../replay/send.ts'
import { type Survey, surveyLog } from '../replay/survey.ts'
import { chooseTiming, type Speed, type Timing } from '../replay/timing.ts'
import { memberLines } from '../table.ts'

export const replay = defineCommand({
  name: 'replay',
  summary: 'Replay an access log (Combined Log Format, plain or gzipped) as pageviews, or tell of the crawlers in it.',
  argument: 'FILE',
  options: {
    'shift-to-now': { meaning: 'Move the log in time so that it ends now; more than 48 hours are pressed into 48.' },
    'shift-to': { value: 'TIME', meaning: 'The same, ending at this RFC 3339 time: a repeat counts nothing twice.' },
    speed: { value: 'max|N', meaning: 'As fast as it can (max, without it), or at N times real time.' },
    import: { meaning: 'Write straight into the stores, with times as old as they are.' },
    bots: { meaning: 'Tell the bots endpoint of the requests of crawlers, instead of sending pageviews.' },
    everybody: { meaning: 'With --bots: of all requests, whoever made them.' },
    site: { value: 'URL', meaning: 'Where the paths belong; without it the site that the log refers to most.' },
    workspace: workspaceOption,
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
    const selection = readSelection(options)
    const workspaceId = options.id('workspace')
    for (const name of ['tracking-url', 'tracking-key'])
      if (isImport && options.text(name) !== undefined) throw new UsageError(`--${name} doesn't go with --import`)
    if (workspaceId !== undefined && options.text('tracking-key') !== undefined)
      throw new UsageError('--workspace and --tracking-key exclude each other: the key names the workspace')

    const isReplayed =
      selection === 'pages' ? isPageRequest : ({ agent, target }: LogLine) => target !== '' && selection(agent)
    const survey = await surveyLog(path, signal, isReplayed)
    if (survey.lastTime === 0) return nothingIn(path, argument, survey, selection !== 'pages')
    const timing = chooseTiming(survey, { shiftTo, speed, isImport, now: Date.now() })
    const target = isImport ? undefined : await findTarget(options, installation, workspaceId)
    const chosenSite = site ?? survey.site ?? 'http://localhost'
    progress.line(
      `${survey.lines} lines of ${chosenSite}, placed ${timing.description.first} to ${timing.description.last}`,
    )

    const key = hashKey(installation, target?.trackingKey)
    const reading = { site: chosenSite, timing, key, signal }
    const source =
      selection === 'pages'
        ? await readPageEvents(path, { ...reading, isBot: isBotAgent })
        : await readBotVisits(path, { ...reading, isWanted: selection })
    const startedAt = performance.now()
    const showProgress = makeShow({ progress, source, size: (await stat(path)).size, startedAt })
    const counts = target
      ? await sendAll({ source, timing, target, progress, signal, showProgress })
      : await importEvents({
          source: source as PageEventSource,
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
  show: memberLines,
})

/**
 * A log that is shipped every hour has an hour without crawlers now and then.
 * @throws CommandFailed where it is no log, or was to have pages
 */
function nothingIn(path: string, argument: string, { lines, oddLines }: Survey, mayBe: boolean) {
  if (mayBe && lines > oddLines)
    return { file: path, lines, odd_lines: oddLines, visits: 0, others: lines - oddLines, sent: 0 }
  throw new CommandFailed(`${argument} has no ${mayBe ? '' : 'page '}request in Combined Log Format`)
}

async function sendAll({
  source,
  timing,
  target,
  progress,
  signal,
  showProgress,
}: Pick<Invocation, 'progress' | 'signal'> & {
  source: PageEventSource | VisitSource
  timing: Timing
  target: SendTarget
  showProgress: ShowProgress
}): Promise<SendCounts> {
  const sender = makeSender(target, progress, signal)
  try {
    for await (const batch of toBatches<unknown>(source.events(), timing, signal)) {
      await sender.send(batch)
      showProgress(sender.counts.sent)
    }
    await sender.finish()
    showProgress(sender.counts.sent, true)
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
    route: options.flag('bots') ? botRoute : pageRoute,
  }
}

async function storedKey(installation: Installation, workspaceId: number | undefined): Promise<string> {
  const workspace = await installation.workspace(workspaceId)
  const key = await currentTrackingKey(installation.postgres(), workspace.id)
  if (key === null) throw new CommandFailed(`workspace ${workspace.id} has no tracking key`)
  return key
}

/**
 * The key that hashes addresses before anything leaves this process. It derives from the installation's secret where
 * that is at hand. Then visitors are the same in the next file, and nobody else can try addresses. Without the secret
 * it derives from the tracking key.
 */
function hashKey(installation: Installation, trackingKey: string | undefined): Buffer {
  const secret = installation.givenSecretKey()
  if (secret !== undefined) return createHmac('sha256', secret).update('svc replay').digest()
  return createHash('sha256').update(`svc replay\0${trackingKey}`).digest()
}

function readSpeed(text: string | undefined): Speed {
  if (text === undefined || text === 'max') return 'max'
  const speed = Number(text)
  if (Number.isFinite(speed) && speed > 0) return speed
  throw new UsageError(`--speed must be max or a number above 0, got \`${text}\``)
}

/** Either pageviews, or the user agents whose requests go to the bots endpoint. */
function readSelection(options: OptionValues): 'pages' | ((agent: string) => boolean) {
  if (!options.flag('bots')) {
    if (options.flag('everybody')) throw new UsageError('--everybody goes with --bots only')
    return 'pages'
  }
  if (options.flag('import')) throw new UsageError("--import doesn't go with --bots")
  return options.flag('everybody') ? () => true : (agent) => isBotAgent(agent) || namedBotOf(agent) !== null
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
}: Pick<Invocation, 'progress'> & { source: Pick<PageEventSource, 'reader'>; size: number; startedAt: number }) {
  return (sent: number, isOver = false) => {
    const share = size === 0 || isOver ? 100 : (source.reader.bytesRead() / size) * 100
    const rate = sent / ((performance.now() - startedAt) / 1000)
    const line = `${share.toFixed(0)} % read, ${sent} sent, ${rate.toFixed(0)} a second`
    if (isOver) progress.ended(line)
    else progress.running(line)
  }
}

function round(number: number): number {
  return Math.round(number * 100) / 100
}
