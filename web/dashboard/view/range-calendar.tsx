/**
 * Chooses the days of a range: the first and the last one in a month, by click or with arrows and Enter, or both typed. Days to come can't
 * be chosen, nor more than the API answers for.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { overviewRangeDaysMax } from '../../../schemas/limits/overview-limits.ts'
import {
  dayByKey,
  dayInWords,
  firstWeekday,
  monthAfter,
  monthInWords,
  weekOf,
  weeksOfMonth,
} from '../parts/calendar-days.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/failure.tsx'
import { todayIn } from '../requests/request.ts'
import { type Days, daysOf, isDay, lengthOf, wholeDaysOf } from './address.ts'

interface RangeCalendarProps {
  readonly days: Days | null
  readonly timezone: string
  choose(days: Days): void
  close(): void
}

export function RangeCalendar({ days, timezone, choose, close }: RangeCalendarProps) {
  const today = todayIn(timezone)
  const whole = days && wholeDaysOf(days)
  const [from, setFrom] = useState(whole?.from ?? '')
  const [to, setTo] = useState(whole?.to ?? '')
  const [isFirstChosen, setFirstChosen] = useState(false)
  /** The first day is chosen, the last one isn't yet; a field that is typed into may have no day. */
  const isHalf = isFirstChosen && isDay(from)
  const [pointed, point] = useState(to || today)
  const [refusal, refuse] = useState('')

  function finish(first: string, last: string): void {
    const chosen = daysOf(first, last)
    if (chosen === null) return refuse('The last day is before the first.')
    if (last > today) return refuse('The last day is still to come.')
    if (lengthOf(chosen) > overviewRangeDaysMax) return refuse(`A range has at most ${overviewRangeDaysMax} days.`)
    close()
    choose(chosen)
  }

  function pick(day: string): void {
    refuse('')
    point(day)
    if (!isHalf) {
      setFrom(day)
      setTo('')
      setFirstChosen(true)
    } else if (day < from) finish(day, from)
    else finish(from, day)
  }

  return (
    <Dialog title="Choose days" close={close}>
      <p class="note" role="status">
        {isHalf
          ? `From ${dayInWords(from)}. Choose the last day.`
          : `Choose the first day and the last one, in ${timezone}.`}
      </p>
      <Month
        pointed={pointed}
        today={today}
        point={point}
        pick={pick}
        isIn={(day) => (isHalf ? day >= min(from, pointed) && day <= max(from, pointed) : day >= from && day <= to)}
      />
      <form
        class="controls days"
        onSubmit={(event) => {
          event.preventDefault()
          finish(from, to)
        }}
      >
        <label>
          From
          <input
            type="date"
            name="from"
            required
            max={today}
            value={from}
            onInput={(event) => setFrom(event.currentTarget.value)}
          />
        </label>
        <label>
          To
          <input
            type="date"
            name="to"
            required
            max={today}
            value={to}
            onInput={(event) => setTo(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="main">
          Show these days
        </button>
      </form>
      <Refusal text={refusal} />
    </Dialog>
  )
}

interface MonthProps {
  /** The day that the keys are at; its month is shown. */
  readonly pointed: string
  readonly today: string
  point(day: string): void
  pick(day: string): void
  isIn(day: string): boolean
}

function Month({ pointed, today, point, pick, isIn }: MonthProps) {
  const place = useRef<HTMLTableElement>(null)
  const isByKey = useRef(false)
  const first = firstWeekday()
  const weeks = weeksOfMonth(pointed, first)
  const turned = (by: 1 | -1) => min(monthAfter(pointed, by), today)
  const focus = () => place.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
  // The dialog, which opens before, gives the focus to its first button.
  useEffect(focus, [])
  // At once: the next key of a quick hand is about the new day.
  useLayoutEffect(() => {
    if (isByKey.current) focus()
    isByKey.current = false
  }, [pointed])
  const onKey = (event: KeyboardEvent) => {
    const week = weekOf(pointed, first)
    const to = { Home: week[0], End: week[6] }[event.key] ?? dayByKey(event.key, pointed)
    if (to === undefined) return
    event.preventDefault()
    isByKey.current = true
    point(min(to, today))
  }
  return (
    <div class="day-picker">
      <div class="tabs">
        <button type="button" aria-label="Previous month" onClick={() => point(turned(-1))}>
          ‹
        </button>
        <h3 aria-live="polite">{monthInWords(pointed)}</h3>
        <button
          type="button"
          aria-label="Next month"
          aria-disabled={pointed.slice(0, 7) >= today.slice(0, 7)}
          onClick={() => point(turned(1))}
        >
          ›
        </button>
      </div>
      <table ref={place} onKeyDown={onKey}>
        <thead>
          <tr>
            {weeks[0]!.map((day) => (
              <th key={day} scope="col" abbr={dayInWords(day, { weekday: 'long' })}>
                {dayInWords(day, { weekday: 'short' })}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td key={day} class={isIn(day) ? 'in' : ''}>
                  <button
                    type="button"
                    class={day.slice(0, 7) === pointed.slice(0, 7) ? '' : 'beside'}
                    data-day={day}
                    aria-label={dayInWords(day)}
                    aria-pressed={isIn(day)}
                    aria-current={day === today ? 'date' : undefined}
                    tabIndex={day === pointed ? 0 : -1}
                    disabled={day > today}
                    onClick={() => pick(day)}
                  >
                    {Number(day.slice(8))}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function min(one: string, other: string): string {
  return one < other ? one : other
}

function max(one: string, other: string): string {
  return one < other ? other : one
}
