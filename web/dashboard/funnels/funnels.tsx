/** Funnels: how many visitors did some steps in order. Range, filters and steps stand in the address. */
import { useState } from 'preact/hooks'
import type { Funnel } from '../../../schemas/resources/funnel.ts'
import { Failure } from '../parts/failure.tsx'
import { number, percent, span } from '../parts/format.ts'
import { useAnswer } from '../requests/query.ts'
import { todayIn } from '../requests/request.ts'
import type { PageProps } from '../shell/lazy-page.tsx'
import { useOverviewKeys } from '../shell/shortcuts.tsx'
import { readView, shownValue, untilNow, type View } from '../view/address.ts'
import { ViewControls } from '../view/view-controls.tsx'
import { type ViewDialog, ViewDialogs } from '../view/view-dialogs.tsx'
import { type FunnelView, funnelQuestionOf, readFunnel, withinLabel, writeFunnel } from './funnel-address.ts'
import { FunnelSteps } from './funnel-steps.tsx'
import { SavedFunnels } from './saved-funnels.tsx'

/** It reads many events: it is asked for less often than the overview. */
const againMs = 15_000

export function FunnelsPage({ search, workspace, navigate }: PageProps) {
  const view = untilNow(readView(search), todayIn(workspace.timezone))
  const funnel = readFunnel(search)
  const [opened, open] = useState<ViewDialog>()
  const opening = {
    openFilter: () => open('filter'),
    openCalendar: () => open('calendar'),
    openSaved: () => open('saved'),
  }
  const close = () => open(undefined)
  const go = (next: View) => navigate(writeFunnel(next, readFunnel(location.search)))
  const change = (next: FunnelView) => navigate(writeFunnel(readView(location.search), next))
  useOverviewKeys({ timezone: workspace.timezone, go, ...opening })
  const question = funnelQuestionOf(view, funnel)
  const { answer, failure, isStale } = useAnswer<Funnel>(question, { againMs })
  const shown = question === undefined ? undefined : answer
  return (
    <main>
      {failure && question !== undefined && <Failure {...failure} />}
      <ViewControls view={view} go={go} timezone={workspace.timezone} {...opening} />
      <ViewDialogs view={view} timezone={workspace.timezone} opened={opened} go={go} close={close} />
      <SavedFunnels funnel={funnel} change={change} />
      <FunnelSteps view={view} funnel={funnel} change={change} />
      <section class="panel" aria-label="Funnel" aria-busy={isStale && question !== undefined}>
        <h2>
          Visitors step by step<span class="label">{withinLabel((shown ?? funnel).within)}</span>
        </h2>
        {question === undefined && (
          <p class="empty">
            Add two or more steps: pages, or events such as a sign-up. Then this shows how many visitors went from one
            to the next.
          </p>
        )}
        {question !== undefined && shown === undefined && !failure && <p class="empty awaited">…</p>}
        {shown && <Bars steps={shown.steps} />}
      </section>
    </main>
  )
}

function Bars({ steps }: Pick<Funnel, 'steps'>) {
  const [first, last] = [steps[0], steps.at(-1)]
  if (first === undefined || last === undefined) return null
  if (first.visitors === 0) return <p class="empty">Nobody did the first step in this range.</p>
  return (
    <>
      <ol class="funnel">
        {steps.map(({ kind, value, visitors, share_of_first, share_of_previous, dropped, ...step }, at) => (
          <li key={at}>
            <div class="row">
              <span class="bar" style={{ width: `${share_of_first}%` }} aria-hidden="true" />
              <span class="name" title={shownValue(value)}>
                {at + 1}. <span class="label">{kind === 'path' ? 'Page' : 'Event'}</span> <bdi>{shownValue(value)}</bdi>
              </span>
              <span class="number">{number(visitors)}</span>
              <span class="share">{percent(share_of_first)}</span>
            </div>
            {at > 0 && (
              <p class="note">
                {percent(share_of_previous)} went on
                {step.median_seconds_from_previous !== null &&
                  `, half of them within ${span(step.median_seconds_from_previous)}`}
                ; {number(dropped)} dropped out
              </p>
            )}
          </li>
        ))}
      </ol>
      <p>
        {number(last.visitors)} of {number(first.visitors)} visitors went all the way: {percent(last.share_of_first)}.
      </p>
    </>
  )
}
