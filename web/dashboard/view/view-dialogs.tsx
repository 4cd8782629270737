/** The dialogs that the controls of a page's view open: another filter, other days, saved filters. */

import type { Overview } from '../requests/answers.ts'
import { todayIn } from '../requests/request.ts'
import { type View, withDays, withFilter } from './address.ts'
import { FilterForm } from './filter-form.tsx'
import { RangeCalendar } from './range-calendar.tsx'
import { SavedViews } from './saved-views.tsx'

export type ViewDialog = 'filter' | 'calendar' | 'saved'

interface ViewDialogsProps {
  readonly view: View
  readonly timezone: string
  readonly opened: ViewDialog | undefined
  /** The filter form suggests values of its lists. */
  readonly overview?: Overview | undefined
  go(view: View): void
  close(): void
}

export function ViewDialogs({ view, timezone, opened, overview, go, close }: ViewDialogsProps) {
  if (opened === 'filter')
    return <FilterForm overview={overview} close={close} add={(filter) => go(withFilter(view, filter))} />
  if (opened === 'saved') return <SavedViews view={view} go={go} close={close} />
  if (opened !== 'calendar') return null
  const today = todayIn(timezone)
  return (
    <RangeCalendar
      days={view.days}
      timezone={timezone}
      close={close}
      choose={(days) => go(withDays(view, days, today))}
    />
  )
}
