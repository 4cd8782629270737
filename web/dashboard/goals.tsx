/** Goals on the overview: how many visitors reached each. A row is a filter on click, as those of lists are. */
import { useState } from 'preact/hooks'
import type { GoalFigures } from '../../schemas/resources/goal.ts'
import { type Filter, questionOf, shownValue, type View } from './address.ts'
import { Confirm, FormDialog } from './dialog.tsx'
import { number, percent } from './format.ts'
import { type StepKind, stepKinds, typedValue } from './funnel-address.ts'
import { may } from './may.ts'
import { Failure, Refusal } from './parts.tsx'
import { send, useAnswer, useRefusal } from './query.ts'
import { Suggestions } from './suggestions.tsx'

type Row = GoalFigures['rows'][number]

interface GoalsProps {
  readonly view: View
  add(filter: Filter): void
}

/** It reads many events: it is asked for less often than the overview. */
const againMs = 15_000

export function Goals({ view, add }: GoalsProps) {
  const { refusal, done } = useRefusal()
  const [isAdding, setAdding] = useState(false)
  const [removed, remove] = useState<Row>()
  const { answer, failure, isStale } = useAnswer<GoalFigures>(`/analytics/goals?${questionOf(view)}`, { againMs })
  const mayChange = may('analytics:write')
  const most = Math.max(1, ...(answer?.rows ?? []).map(({ visitors }) => visitors))
  return (
    <section class="panel" aria-label="Goals" aria-busy={isStale}>
      <h2>
        Goals<span class="label">Visitors</span>
      </h2>
      {failure && <Failure {...failure} />}
      <Refusal text={refusal} />
      {answer === undefined && !failure && <p class="empty awaited">…</p>}
      {answer?.rows.length === 0 && (
        <p class="empty">
          A goal is what visitors should do: view a page, such as the thanks after an order, or cause an event, such as
          a sign-up. Here stand who did, how often, and their share of all visitors.
        </p>
      )}
      <ul>
        {answer?.rows.map((row) => (
          <li key={row.id} class="goal">
            <Reached {...{ row, most, add }} />
            {mayChange && (
              <button type="button" class="link" aria-label={`Remove ${row.name}`} onClick={() => remove(row)}>
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {mayChange && answer !== undefined && (
        <button type="button" class="link" onClick={() => setAdding(true)}>
          Add goal
        </button>
      )}
      {isAdding && (
        <GoalForm
          view={view}
          close={() => setAdding(false)}
          made={(goal) => {
            setAdding(false)
            done({ made: goal })
          }}
        />
      )}
      {removed && (
        <Confirm
          title="Remove this goal"
          verb="Remove"
          close={() => remove(undefined)}
          confirmed={async () => {
            done(await send('DELETE', `/goals/${removed.id}`))
            remove(undefined)
          }}
        >
          <bdi>{removed.name}</bdi> is no longer shown to anybody in the workspace. Its events stay: added again, it has
          the same figures.
        </Confirm>
      )}
    </section>
  )
}

function Reached({ row, most, add }: { row: Row; most: number; add: GoalsProps['add'] }) {
  const { name, kind, value, visitors, completions, conversion_rate, previous } = row
  const rateBefore = previous ? `\nBefore: ${percent(previous.conversion_rate)} of all visitors` : ''
  return (
    <button
      type="button"
      class="row"
      title={`${stepKinds[kind]} ${shownValue(value)}${rateBefore}\nClick to filter, Alt-click to exclude`}
      onClick={({ altKey }) => add({ name: kind, value: (altKey ? '!' : '') + value })}
    >
      <span class="bar" style={{ width: `${(visitors / most) * 100}%` }} aria-hidden="true" />
      <span class="name">
        <bdi>{name}</bdi>
      </span>
      <span class="count label">
        {number(completions)} {completions === 1 ? 'time' : 'times'}
      </span>
      {previous && <span class="before">before {number(previous.visitors)}</span>}
      <span class="number">{number(visitors)}</span>
      <span class="share">{percent(conversion_rate)}</span>
    </button>
  )
}

interface GoalFormProps {
  readonly view: View
  made(goal: unknown): void
  close(): void
}

function GoalForm({ view, made, close }: GoalFormProps) {
  const [kind, setKind] = useState<StepKind>('path')
  const submit = (data: FormData) =>
    send('POST', '/goals', { kind, value: typedValue(String(data.get('value'))), name: data.get('name') })
  return (
    <FormDialog title="Add goal" verb="Add" {...{ close, made, submit }}>
      <Suggestions view={view} />
      <label>
        Visitors should
        <select value={kind} onChange={(event) => setKind(event.currentTarget.value as StepKind)}>
          <option value="path">view a page</option>
          <option value="event">cause an event</option>
        </select>
      </label>
      <label>
        {stepKinds[kind]}; * is any text
        <input
          key={kind}
          name="value"
          list={`suggested-${kind}`}
          placeholder={kind === 'path' ? '/thanks or /blog/*' : 'signup'}
          maxLength={500}
          required
        />
      </label>
      <label>
        Name
        <input name="name" placeholder={kind === 'path' ? 'Order' : 'Sign-up'} maxLength={120} required />
      </label>
    </FormDialog>
  )
}
