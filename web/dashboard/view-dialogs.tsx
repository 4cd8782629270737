/** The dialogs that the controls of a page's view open: another filter, other days. */
import { localDay, type View, withDays, withFilter } from './address.ts'
import { FilterForm } from './filter-form.tsx'
import { RangeCalendar } from './range-calendar.tsx'

interface ViewDialogsProps {
  readonly view: View
  readonly timezone: string
  readonly opened: 'filter' | 'calendar' | undefined
  go(view: View): void
  close(): void
}

export function ViewDialogs({ view, timezone, opened, go, close }: ViewDialogsProps) {
  if (opened === 'filter') return <FilterForm add={(filter) => go(withFilter(view, filter))} close={close} />
  if (opened !== 'calendar') return null
  const today = localDay(Date.now(), timezone)
  return <RangeCalendar {...{ days: view.days, timezone, close }} choose={(days) => go(withDays(view, days, today))} />
}
