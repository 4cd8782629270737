/** Filters that the workspace has saved under names: a click puts one in place of the page's filters. */
import { useState } from 'preact/hooks'
import { filterNames } from '../../../schemas/reference/filter-names.ts'
import type { Segment } from '../../../schemas/resources/segment.ts'
import { changesOf } from '../parts/changes-of.ts'
import { Dialog, FormDialog } from '../parts/dialog.tsx'
import { Failure, Refusal } from '../parts/failure.tsx'
import { DeleteSaved, SavedRow, SaveForm } from '../parts/saved-items.tsx'
import { send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'
import type { Filter, View } from './address.ts'
import { FilterText } from './view-controls.tsx'

interface SavedViewsProps {
  readonly view: View
  go(view: View): void
  close(): void
}

/** Others save few. */
const againMs = 60_000

export function SavedViews({ view, go, close }: SavedViewsProps) {
  const { answer, failure, isComing } = useAnswer<readonly Segment[]>('/segments', { againMs })
  const { refusal, done } = useRefusal()
  const [edited, setEdited] = useState<Segment>()
  const [deleted, setDeleted] = useState<Segment>()
  const mayChange = may('analytics:write')
  const apply = (filters: readonly Filter[]) => {
    go({ ...view, filters })
    close()
  }
  if (deleted) {
    return (
      <DeleteSaved
        title="Delete this view"
        path={`/segments/${deleted.id}`}
        name={deleted.name}
        close={() => setDeleted(undefined)}
        done={done}
      />
    )
  }
  if (edited) return <ChangeView segment={edited} filters={view.filters} close={() => setEdited(undefined)} />
  return (
    <Dialog title="Saved views" close={close}>
      {failure && <Failure {...failure} />}
      {isComing && <p class="empty">…</p>}
      {answer?.length === 0 && (
        <p class="empty">A saved view is a name for filters, such as “Phones in France”, for all of the workspace.</p>
      )}
      <ul aria-label="Saved views">
        {answer?.map((segment) => (
          <SavedRow
            key={segment.id}
            name={segment.name}
            apply={() => apply(filtersOf(segment))}
            change={() => setEdited(segment)}
            end={() => setDeleted(segment)}
          >
            {filtersOf(segment).map((filter, at) => (
              <span key={`${filter.name} ${filter.value}`}>
                {at > 0 && ', '}
                <FilterText {...filter} />
              </span>
            ))}
          </SavedRow>
        ))}
      </ul>
      <Refusal text={refusal} />
      {mayChange && view.filters.length === 0 && <p class="note">Filter the page first, then save its filters here.</p>}
      {mayChange && view.filters.length > 0 && (
        <SaveForm what="these filters" path="/segments" content={{ filters: byName(view.filters) }} done={done} />
      )}
    </Dialog>
  )
}

interface ChangeViewProps {
  readonly segment: Segment
  /** The page's. */
  readonly filters: readonly Filter[]
  close(): void
}

function ChangeView({ segment, filters, close }: ChangeViewProps) {
  /** As the form was filled. */
  const [{ id, ...before }] = useState({ id: segment.id, name: segment.name, filters: byName(filtersOf(segment)) })
  const submit = (data: FormData) => {
    const view = { name: String(data.get('name')), filters: data.has('replace') ? byName(filters) : before.filters }
    return send('PATCH', `/segments/${id}`, changesOf(view, before))
  }
  return (
    <FormDialog title="Change the view" verb="Save" close={close} submit={submit}>
      <label>
        Name
        <input name="name" defaultValue={before.name} maxLength={120} required />
      </label>
      {filters.length > 0 && (
        <label class="choice">
          <input type="checkbox" name="replace" /> Put the page’s filters in place of its own
        </label>
      )}
    </FormDialog>
  )
}

function filtersOf({ filters }: Segment): Filter[] {
  return filterNames.flatMap((name) => (filters[name] ?? []).map((value) => ({ name, value })))
}

/** As the API takes them. */
function byName(filters: readonly Filter[]): Record<string, string[]> {
  return Object.fromEntries(filters.map(({ name }) => [name, valuesOf(filters, name)]))
}

function valuesOf(filters: readonly Filter[], wanted: Filter['name']): string[] {
  return filters.flatMap(({ name, value }) => (name === wanted ? [value] : []))
}
