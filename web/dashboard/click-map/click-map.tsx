/** A click map: a recorded page with the clicks of its visitors, and lists of its elements. Page, range and device stand in the address. */
import { useState } from 'preact/hooks'
import { clickMapDeepShare, clickMapViewClicksMax } from '../../../schemas/limits/click-map-limits.ts'
import type { ClickMap, Viewport } from '../../../schemas/resources/click-map.ts'
import type { WorkspaceSettings } from '../../../schemas/resources/workspace.ts'
import { Choice } from '../parts/choice.tsx'
import { Failure } from '../parts/failure.tsx'
import { number, percent } from '../parts/format.ts'
import { KeptFrom } from '../parts/kept-from.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { useAnswer } from '../requests/query.ts'
import { todayIn } from '../requests/request.ts'
import type { PageProps } from '../shell/lazy-page.tsx'
import { may } from '../shell/may.ts'
import { useOverviewKeys } from '../shell/shortcuts.tsx'
import { readView, untilNow, type View } from '../view/address.ts'
import { ViewControls } from '../view/view-controls.tsx'
import { ViewDialogs } from '../view/view-dialogs.tsx'
import { devices, mapQuestionOf, readMapped, writeMapped } from './click-map-address.ts'
import { MappedPage } from './mapped-page.tsx'

/** It reads many recordings. */
const againMs = 600_000

export function ClickMapPage({ search, workspace: { timezone }, navigate }: PageProps) {
  const view = untilNow(readView(search), todayIn(timezone))
  const mapped = readMapped(search)
  const { path, device } = mapped
  const [hasCalendar, showCalendar] = useState(false)
  const [hasBands, showBands] = useState(false)
  const [chosen, chooseElement] = useState<string>()
  const [hovered, hover] = useState<string>()
  const go = (next: View) => navigate(writeMapped(next, readMapped(location.search)))
  const choose = (next: Partial<typeof mapped>) => navigate(writeMapped(view, { ...mapped, ...next }))
  const opening = { openFilter: () => undefined, openCalendar: () => showCalendar(true) }
  useOverviewKeys({ timezone, go, ...opening })
  const { answer, failure, isStale } = useAnswer<ClickMap>(mapQuestionOf(view, mapped), { againMs })
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    choose({ path: String(new FormData(event.currentTarget as HTMLFormElement).get('path') ?? '').trim() })
  }
  const shown = path === '' ? undefined : answer
  const indexOf = (wanted: string | undefined) => {
    const index = shown?.elements.findIndex(({ selector }) => selector === wanted) ?? -1
    return index === -1 ? undefined : index
  }
  return (
    <main>
      {failure && <Failure {...failure} />}
      <form class="controls" onSubmit={submit} key={path}>
        <input name="path" type="search" aria-label="Page" placeholder="Page, such as /pricing" defaultValue={path} />
        <button type="submit">Show</button>
        <button
          type="button"
          onClick={() => navigate(`/dashboard/replays${path && `?${new URLSearchParams({ path })}`}`)}
        >
          Replays
        </button>
      </form>
      <ViewControls view={view} go={go} timezone={timezone} {...opening} isFiltered={false}>
        <Choice
          label="Device"
          options={devices}
          chosen={device}
          choose={(next: Viewport) => choose({ device: next })}
        />
        <label>
          <input type="checkbox" checked={hasBands} onChange={(event) => showBands(event.currentTarget.checked)} />{' '}
          Scroll depth
        </label>
      </ViewControls>
      <ViewDialogs
        view={view}
        timezone={timezone}
        go={go}
        opened={hasCalendar ? 'calendar' : undefined}
        close={() => showCalendar(false)}
      />
      {shown && <KeptFrom {...shown} />}
      {path === '' && <p class="empty">Which page? Enter its path above.</p>}
      {path !== '' && shown === undefined && !failure && <p class="empty awaited">Reading recordings…</p>}
      {shown?.page_views === 0 && (
        <Nothing map={shown} choose={(next) => choose({ device: next })} navigate={navigate} />
      )}
      {shown !== undefined && shown.page_views > 0 && (
        <div class="columns panels replay" aria-busy={isStale}>
          <section class="panel tall" aria-label="Click map">
            <h2>
              <bdi>{shown.path}</bdi>
              <span class="label">
                Recorded page views: {number(shown.page_views)}, clicks: {number(shown.clicks)}
              </span>
            </h2>
            {shown.page === null ? (
              <p class="empty">No recording began on this page, so it can’t be drawn. The list has its elements.</p>
            ) : (
              <MappedPage
                map={shown}
                page={shown.page}
                hasBands={hasBands}
                chosen={indexOf(chosen)}
                marked={indexOf(hovered) ?? indexOf(chosen)}
              />
            )}
            <Remarks {...shown} />
          </section>
          <Elements map={shown} chosen={chosen} hover={hover} choose={chooseElement} />
          <ScrollDepth {...shown} />
        </div>
      )}
    </main>
  )
}

function Remarks({ has_more, cut_page_views, cut_clicks, page }: ClickMap) {
  return (
    <>
      {has_more && <p class="note">There are older recordings in this range. They aren’t counted.</p>}
      {cut_page_views > 0 && (
        <p class="note">{number(cut_page_views)} of them are too long: their ends aren’t counted.</p>
      )}
      {cut_clicks > 0 && (
        <p class="note">
          {number(cut_clicks)} more clicks aren’t counted: only the first {number(clickMapViewClicksMax)} of a page view
          are.
        </p>
      )}
      {page !== null && (
        <p class="note">The page is the newest recording’s, as it was loaded. Images and fonts are missing.</p>
      )}
    </>
  )
}

const columns = ['Element', 'Clicks', 'Share', 'Visitors', 'Dead', 'Rage']

interface ElementsProps {
  readonly map: ClickMap
  /** Selectors; undefined: none. */
  readonly chosen: string | undefined
  choose(selector: string | undefined): void
  hover(selector: string | undefined): void
}

function Elements({ map: { elements, clicks, page }, chosen, choose, hover }: ElementsProps) {
  return (
    <section class="panel" aria-label="Elements">
      <h2>Elements</h2>
      {clicks === 0 && <p class="empty">Nobody clicked.</p>}
      {elements.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys too
        <section class="scrolled" aria-label="All elements" tabIndex={0}>
          <table class="all elements">
            <thead>
              <tr>
                {columns.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {elements.map(({ selector, text, share, visitors, dead_clicks, rage_clicks, ...row }) => (
                <tr key={selector} onMouseEnter={() => hover(selector)} onMouseLeave={() => hover(undefined)}>
                  <th scope="row" title={selector}>
                    {page === null ? (
                      <Named selector={selector} text={text} />
                    ) : (
                      <button
                        type="button"
                        class="link"
                        aria-pressed={selector === chosen}
                        onClick={() => choose(selector === chosen ? undefined : selector)}
                      >
                        <Named selector={selector} text={text} />
                      </button>
                    )}
                  </th>
                  <td>{number(row.clicks)}</td>
                  <td>{percent(share)}</td>
                  <td>{number(visitors)}</td>
                  <td>{number(dead_clicks)}</td>
                  <td>{number(rage_clicks)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <p class="note">
        {page !== null && elements.length > 0 && 'Choosing an element marks its clicks on the page. '}
        Dead: nothing changed within a second. Rage: three clicks within a second, close to each other.
      </p>
    </section>
  )
}

/** The part that tells elements apart stands last. */
function Named({ selector, text }: { selector: string; text: string }) {
  const at = selector.lastIndexOf(' ') + 1
  return (
    <>
      <bdi>
        <span class="label">{selector.slice(0, at)}</span>
        {selector.slice(at)}
      </bdi>{' '}
      <bdi class="label">{text}</bdi>
    </>
  )
}

function ScrollDepth({ scroll: { bands, height } }: ClickMap) {
  return (
    <section class="panel" aria-label="Scroll depth">
      <h2>
        Scroll depth<span class="label">Page views that saw it</span>
      </h2>
      <ul>
        {bands.map(({ depth, y, page_views, share }) => (
          <li key={depth} class="row">
            <span class="bar" style={{ width: `${share}%` }} aria-hidden="true" />
            <span class="name">
              {depth} %, {number(y)} px
            </span>
            <span class="number">{number(page_views)}</span>
            <span class="share">{percent(share)}</span>
          </li>
        ))}
      </ul>
      <p class="note">
        100 % is the lowest place that at least {percent(clickMapDeepShare * 100)} of them saw: {number(height)} px.
      </p>
    </section>
  )
}

type Settings = (typeof WorkspaceSettings)['_output']

interface NothingProps {
  readonly map: ClickMap
  choose(device: Viewport): void
  navigate(path: string): void
}

/** No page view to count: of another device there may be some, or replay is off. */
function Nothing({ map: { viewports, path, device }, choose, navigate }: NothingProps) {
  const isOwners = may('workspace:manage')
  const { answer } = useAnswer<Settings>(isOwners ? '/workspace/settings' : undefined, { againMs })
  const others = (Object.keys(devices) as Viewport[]).filter((one) => viewports[one] > 0)
  return (
    <section class="panel install" aria-label="No recordings">
      <h2>
        No recordings of <bdi>{path}</bdi> in this range{others.length > 0 && `, on ${devices[device].toLowerCase()}`}
      </h2>
      {others.map((one) => (
        <p key={one}>
          <button type="button" onClick={() => choose(one)}>
            {devices[one]}: {number(viewports[one])} page views
          </button>
        </p>
      ))}
      {others.length === 0 && (
        <>
          <p>
            {answer?.replay_enabled === false
              ? 'Replay is off, so no session is recorded.'
              : 'Click maps are made from replays: where replay is on, a share of the sessions is recorded.'}
          </p>
          <p>
            {isOwners ? (
              <PageLink path="/dashboard/settings" navigate={navigate}>
                Turn on replay in the settings
              </PageLink>
            ) : (
              'An admin turns replay on in the settings.'
            )}
            , or on the machine:
          </p>
          <pre>npx svc workspace set --replay on</pre>
        </>
      )}
    </section>
  )
}
