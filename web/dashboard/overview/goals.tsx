/** Goals on the overview: how many visitors reached each. A row is a filter on click, as those of lists are, unless it is of a page with a property. */
import { useState } from 'preact/hooks'
import type { GoalFigures } from '../../../schemas/resources/goal.ts'
import { type StepKind, stepKinds, typedValue } from '../funnels/funnel-address.ts'
import { Suggestions } from '../funnels/suggestions.tsx'
import { ChangeButtons } from '../parts/change-buttons.tsx'
import { changesOf } from '../parts/changes-of.ts'
import { FormDialog, Removal } from '../parts/dialog.tsx'
import { number, percent } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'
import { type Filter, propertyFilterOf, questionOf, shownValue, type View } from '../view/address.ts'

type Row = GoalFigures['rows'][number]

interface GoalsProps {
  readonly view: View
  add(...filters: Filter[]): void
}

/** It reads many events: it is asked for less often than the overview. */
const againMs = 15_000

export function Goals({ view, add }: GoalsProps) {
  const { refusal, done } = useRefusal()
  const [edited, edit] = useState<Row | 'new'>()
  const [removed, remove] = useState<Row>()
  const { answer, failure, isComing, isStale } = useAnswer<GoalFigures>(`/analytics/goals?${questionOf(view)}`, {
    againMs,
  })
  const mayChange = may('analytics:write')
  const most = Math.max(1, ...(answer?.rows ?? []).map(({ visitors }) => visitors))
  return (
    <Panel title="Goals" label="Visitors" failure={failure} refusal={refusal} isBusy={isStale}>
      {isComing && <p class="empty awaited">…</p>}
      {answer?.rows.length === 0 && (
        <p class="empty">
          A goal is what visitors should do: view a page, such as the thanks after an order, or cause an event, such as
          a sign-up. The list has who did it, how often, and their share of all visitors.
        </p>
      )}
      <div class="figures">
        <ul>
          {answer?.rows.map((row) => (
            <li key={row.id} class="goal">
              <Reached row={row} most={most} add={add} />
              {mayChange && (
                <ChangeButtons name={row.name} ends="Remove" change={() => edit(row)} end={() => remove(row)} />
              )}
            </li>
          ))}
        </ul>
      </div>
      {mayChange && answer !== undefined && (
        <button type="button" class="link" onClick={() => edit('new')}>
          Add goal
        </button>
      )}
      {edited && (
        <GoalForm
          view={view}
          edited={edited === 'new' ? undefined : edited}
          close={() => edit(undefined)}
          made={(made) => done({ made })}
        />
      )}
      {removed && (
        <Removal
          title="Remove this goal"
          verb="Remove"
          path={`/goals/${removed.id}`}
          close={() => remove(undefined)}
          done={done}
        >
          <bdi>{removed.name}</bdi> is no longer shown to anybody in the workspace. Its events stay: added again, it has
          the same figures.
        </Removal>
      )}
    </Panel>
  )
}

function Reached({ row, most, add }: { row: Row; most: number; add: GoalsProps['add'] }) {
  const { name, kind, value, property, visitors, completions, conversion_rate, previous } = row
  const where = property ? `, where ${property.name} is ${shownValue(property.value)}` : ''
  const rateBefore = previous ? `\nBefore: ${percent(previous.conversion_rate)} of all visitors` : ''
  const title = `${stepKinds[kind]} ${shownValue(value)}${where}${rateBefore}`
  const figures = (
    <>
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
    </>
  )
  // No filter knows the properties of single pages: one by the page alone would choose others, too.
  if (property && kind === 'path')
    return (
      <div class="row" title={title}>
        {figures}
      </div>
    )
  return (
    <button
      type="button"
      class="row"
      title={`${title}\nClick to filter${property ? '' : ', Alt-click to exclude'}`}
      onClick={({ altKey }) =>
        property
          ? add({ name: kind, value }, propertyFilterOf(property.name, property.value))
          : add({ name: kind, value: (altKey ? '!' : '') + value })
      }
    >
      {figures}
    </button>
  )
}

/** The API takes no longer ones. */
const nameLengthMax = 120

interface GoalFormProps {
  readonly view: View
  /** Undefined: the goal is a new one. */
  readonly edited: Pick<Row, 'id' | 'name' | 'kind' | 'value' | 'property'> | undefined
  made(goal: unknown): void
  close(): void
}

function GoalForm({ view, edited, made, close }: GoalFormProps) {
  /** As the form was filled. */
  const [before] = useState(edited)
  const [kind, setKind] = useState<StepKind>(before?.kind ?? 'path')
  const submit = (data: FormData) => {
    const [value, property, propertyValue, name] = ['value', 'property', 'property_value', 'name'].map((field) =>
      String(data.get(field)),
    ) as [string, string, string, string]
    const goal = {
      kind,
      value: typedValue(value),
      name: name.trim() || [...value].slice(0, nameLengthMax).join(''),
      property: property + propertyValue === '' ? null : { name: property, value: typedValue(propertyValue) },
    }
    return before ? send('PATCH', `/goals/${before.id}`, changesOf(goal, before)) : send('POST', '/goals', goal)
  }
  return (
    <FormDialog
      title={before ? 'Change the goal' : 'Add goal'}
      verb={before ? 'Save' : 'Add'}
      close={close}
      made={made}
      submit={submit}
    >
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
          defaultValue={kind === before?.kind ? before.value : ''}
          maxLength={500}
          autocapitalize="none"
          required
        />
      </label>
      <label>
        Name; without one, the {stepKinds[kind].toLowerCase()} is its name
        <input
          name="name"
          placeholder={kind === 'path' ? 'Order' : 'Sign-up'}
          defaultValue={before?.name}
          maxLength={nameLengthMax}
        />
      </label>
      <label>
        Only with the property, if it matters
        <input
          name="property"
          placeholder="plan"
          defaultValue={before?.property?.name}
          maxLength={200}
          autocapitalize="none"
        />
      </label>
      <label>
        Value of this property; * is any text
        <input
          name="property_value"
          placeholder="pro"
          defaultValue={before?.property?.value}
          maxLength={500}
          autocapitalize="none"
        />
      </label>
    </FormDialog>
  )
}
