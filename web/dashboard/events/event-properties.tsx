/** The values of a property that events of one name carried, with who caused them. */
import { useMemo, useRef, useState } from 'preact/hooks'
import type { EventNames } from '../../../schemas/resources/event-names.ts'
import { ListTable } from '../overview/details.tsx'
import { valuesOf } from '../overview/list-kinds.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { useAnswer } from '../requests/query.ts'
import { type Filter, listQuestionOf, type View } from '../view/address.ts'
import { readEvents, writeEvents } from './events-view.ts'

interface PropertiesProps {
  readonly event: string
  readonly view: View
  readonly currency: string
  add(...filters: Filter[]): void
  /** To another address of the dashboard. */
  navigate(path: string): void
  close(): void
}

/** Names of properties seldom change. */
const againMs = 60_000

export function EventProperties({ event, view, currency, add, navigate, close }: PropertiesProps) {
  const named = new URLSearchParams({ name: event, limit: '1' })
  const { answer, failure } = useAnswer<EventNames>(`/analytics/events?${named}&${listQuestionOf(view)}`, { againMs })
  const [chosen, choose] = useState<string>()
  const first = useRef<string>(undefined)
  first.current ??= answer?.properties[0]
  // The most frequent one may be another by now: the table that somebody reads stays.
  const property = chosen ?? first.current
  const names = new Set([...(answer?.properties ?? []), ...(property === undefined ? [] : [property])])
  const kind = useMemo(() => (property === undefined ? undefined : valuesOf(event, property)), [event, property])
  const addAndClose = (...filters: Filter[]) => {
    add(...filters)
    close()
  }
  return (
    <Dialog title={`Properties of ${event}`} close={close}>
      {failure && <Failure {...failure} />}
      {answer !== undefined && kind === undefined && <p class="empty">Its newest events have no properties.</p>}
      {kind && (
        <>
          <label>
            Property{' '}
            <select value={property} onChange={({ currentTarget: { value } }) => choose(value)}>
              {[...names].map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <PageLink path={writeEvents(view, { ...readEvents(''), of: event, property })} navigate={navigate}>
            Over time
          </PageLink>
          <ListTable key={property} kind={kind} view={view} currency={currency} add={addAndClose} />
        </>
      )}
    </Dialog>
  )
}
