/** The content of a traffic alert. Pure; held by test/integration/traffic-alerts.test.ts. */
import { makeFigureTexts } from '../../schemas/figure-texts.ts'
import { spikeListsMs } from '../../schemas/limits/alert-limits.ts'
import { liveWindowMs } from '../../schemas/limits/figure-limits.ts'
import { minute } from '../../schemas/limits/units.ts'
import type { TrafficAlert, TrafficDrop, TrafficSpike } from '../../schemas/resources/traffic-alert.ts'
import { locale, pagesOf, sourcesOf } from '../reports/describe-report.ts'
import { allFigures, dashboardUrlOf, type Message, plain } from '../reports/message.ts'
import { localTime } from './local-time.ts'

const { number } = makeFigureTexts(locale)

interface Told {
  readonly told: TrafficAlert
  readonly workspace: { readonly id: number; readonly name: string; readonly timezone: string }
}

/** @param apiHost empty where it isn't set */
export function describeAlert({ told, workspace }: Told, apiHost: string): Message {
  const name = plain(workspace.name)
  const time = (moment: string) => localTime(new Date(moment), workspace.timezone)
  return {
    name,
    dashboardUrl: dashboardUrlOf(apiHost, workspace, '/dashboard'),
    linkText: allFigures,
    reason: `You get this alert because whoever manages ${name} chose alerts for your address.`,
    ...(told.kind === 'spike' ? partsOfSpike(told, time) : partsOfDrop(told, time)),
  }
}

type Parts = Pick<Message, 'headline' | 'note' | 'tables'>
type TimeText = (moment: string) => string

function partsOfSpike({ live_visitors, spike_visitors, at, ...lists }: TrafficSpike, time: TimeText): Parts {
  const within = `${liveWindowMs / minute} minutes`
  const sets = `The workspace asks to be told of ${number(spike_visitors)} or more.`
  return {
    headline: `${counted(live_visitors, 'visitor')} in ${within}`,
    note: `Counted at ${time(at)}. ${sets} The lists are of the ${spikeListsMs / minute} minutes before.`,
    tables: [sourcesOf(lists), pagesOf(lists)],
  }
}

function partsOfDrop({ drop_hours, last_visit_at, as_of }: TrafficDrop, time: TimeText): Parts {
  const seen = `The last event of a visitor was at ${time(last_visit_at)}, and none came until ${time(as_of)}.`
  return {
    headline: `no visitor for ${counted(drop_hours, 'hour')}`,
    note: `${seen} See whether the site is up, and whether its pages still have the snippet.`,
    tables: [],
  }
}

function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`
}
