/** All workspaces of whoever is signed in, side by side: the most visited first. */
import { useState } from 'preact/hooks'
import type { WorkspaceGlance } from '../../schemas/resources/workspace-glance.ts'
import { dayInWords } from './parts/calendar-days.ts'
import { ChangeMark } from './parts/change-mark.tsx'
import { Failure } from './parts/failure.tsx'
import { brief, changeOf, number } from './parts/format.ts'
import { useAnswer } from './requests/query.ts'
import { goToWorkspace } from './shell/workspaces.tsx'

type Figures = NonNullable<WorkspaceGlance['figures']>

/** Seldom: the figures of each workspace are statements of their own. */
const glanceMs = 60_000
/** More are searched by their names. */
const unsearchedMax = 10

export function AllWorkspacesPage() {
  const { answer, failure, isComing } = useAnswer<readonly WorkspaceGlance[]>('/workspaces/glance', {
    againMs: glanceMs,
  })
  const [sought, setSought] = useState('')
  if (isComing) return <main class="skeleton" aria-busy="true" aria-label="Loading" />
  const found = answer?.filter(({ name }) => name.toLowerCase().includes(sought.trim().toLowerCase())) ?? []
  return (
    <main>
      {failure && <Failure {...failure} />}
      <section aria-label="All workspaces">
        <h2>
          All workspaces <span class="label">Last 7 days, today included</span>
        </h2>
        {answer !== undefined && answer.length > unsearchedMax && (
          <div class="controls">
            <input
              type="search"
              aria-label="Search by name"
              placeholder="Search by name"
              onInput={({ currentTarget }) => setSought(currentTarget.value)}
            />
          </div>
        )}
        {answer !== undefined && found.length === 0 && (
          <p class="empty" role="status">
            No workspace has that in its name.
          </p>
        )}
        <ul class="glances">
          {found.map((one) => (
            <Glance key={one.id} workspace={one} />
          ))}
        </ul>
      </section>
    </main>
  )
}

/** Why there are no figures. */
const reasons: Readonly<Record<NonNullable<WorkspaceGlance['without']>, string>> = {
  plan_missing: 'No figures: its plan has lapsed.',
  workspace_access_denied: 'No figures: it is suspended.',
  second_factor_missing: 'No figures: it requires a second factor, which you haven’t set up.',
  role_insufficient: 'No figures: your role there doesn’t see them.',
  no_event: 'Waiting for the first event.',
  answer_late: 'No figures here now: reading those of the others took too long. Its own overview has them.',
  too_many: 'No figures here: only the first 50 workspaces have some. Its own overview has them.',
}

function Glance({ workspace: { id, name, is_current, figures, without } }: { workspace: WorkspaceGlance }) {
  const isOpen = without !== 'workspace_access_denied'
  return (
    <li class="panel glance">
      <h3>
        {isOpen ? (
          <button type="button" class="link glance-name" onClick={() => goToWorkspace(id)}>
            <bdi>{name}</bdi>
          </button>
        ) : (
          <bdi>{name}</bdi>
        )}
        {is_current && <span class="label">open now</span>}
      </h3>
      {without !== null && <p class="note">{reasons[without]}</p>}
      {figures !== null && <GlanceFigures figures={figures} />}
    </li>
  )
}

function GlanceFigures({ figures }: { figures: Figures }) {
  const { live_visitors, previous, days } = figures
  const counts = [
    { name: 'visitors', label: 'Visitors' },
    { name: 'pageviews', label: 'Page views' },
  ] as const
  return (
    <>
      <p class="live">
        <span aria-hidden="true">●</span> {number(live_visitors)} now
      </p>
      <dl>
        {counts.map(({ name, label }) => (
          <div key={name}>
            <dt class="label">{label}</dt>
            <dd>
              <strong title={number(figures[name])}>{brief(figures[name])}</strong>{' '}
              {previous !== null && (
                <ChangeMark
                  changed={changeOf(figures[name], previous[name], Math.min(figures.visitors, previous.visitors))}
                />
              )}
            </dd>
          </div>
        ))}
      </dl>
      <DaysLine days={days} />
    </>
  )
}

const [width, height] = [120, 32]

/** Visitors by day. The last day still runs. */
function DaysLine({ days }: { days: Figures['days'] }) {
  const most = Math.max(1, ...days.map(({ visitors }) => visitors))
  const points = days.map(({ visitors }, at) => {
    const x = days.length < 2 ? width : (at / (days.length - 1)) * width
    return `${x.toFixed(1)},${(height - 1 - (visitors / most) * (height - 2)).toFixed(1)}`
  })
  const said = days.map(
    ({ day, visitors }) => `${dayInWords(day, { weekday: 'short', day: 'numeric' })}: ${number(visitors)}`,
  )
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Visitors by day. ${said.join(', ')}`}
    >
      <title>{said.join('\n')}</title>
      <polyline points={points.join(' ')} vector-effect="non-scaling-stroke" />
    </svg>
  )
}
