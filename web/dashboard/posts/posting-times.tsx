/** The queue of posts: the week's posting times and their editor, and the button that puts a post into it. */
import type { ButtonHTMLAttributes } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { PostingTimes } from '../../../schemas/resources/posting-times.ts'
import { dayAfter, dayInWords, firstWeekday, weekOf } from '../parts/calendar-days.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/failure.tsx'
import { time, timeOfDay } from '../parts/format.ts'
import { fetchOnce, send } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'

type Times = (typeof PostingTimes)['_output']
type PostingTime = Times['times'][number]

/** The state of the queue, as pages of posts share it. */
export interface Queue {
  /** Undefined: not known yet. */
  readonly known: Times | undefined
  /** Opens the editor of posting times. */
  setUp(): void
}

/** Without posting times it leads to them. */
export function QueueButton({
  queue: { known, setUp },
  timezone,
  ...button
}: { readonly queue: Queue; readonly timezone: string } & ButtonHTMLAttributes<HTMLButtonElement>) {
  if (known?.times.length === 0) {
    return (
      <button type="button" onClick={setUp}>
        Set posting times
      </button>
    )
  }
  const next = known?.free[0]
  return (
    <button {...button} title={next && `Schedules it for ${time(next, timezone)}, the next free posting time`}>
      Add to queue
    </button>
  )
}

/** A Monday: weekdays are named by the week that it begins. */
const monday = '2024-01-01'
const nameOf = (weekday: number) => dayInWords(dayAfter(monday, weekday - 1), { weekday: 'long' })
const everyDay = [1, 2, 3, 4, 5, 6, 7]
const workdays = everyDay.slice(0, 5)

interface EditorProps {
  readonly known: Times
  readonly timezone: string
  close(): void
}

export function PostingTimesEditor({ known, timezone, close }: EditorProps) {
  const { refusal, done } = useRefusal()
  const [times, setTimes] = useState(known.times)
  /** One change after another: quick hands lose none. */
  const latest = useRef(Promise.resolve())
  /** Each is of the list as it is then: others may have changed it meanwhile. */
  const change = (changeOf: (before: readonly PostingTime[]) => PostingTime[]) => {
    latest.current = latest.current.then(async () => {
      const before = await fetchOnce<Times>('/posting-times')
      const sent =
        'refusal' in before
          ? before
          : await send<Times>('PATCH', '/posting-times', { times: changeOf(before.made.times) })
      done(sent)
      if ('made' in sent) setTimes(sent.made.times)
    })
  }
  const add = (event: SubmitEvent) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const at = String(data.get('time'))
    const weekdays = String(data.get('days')).split(',').map(Number)
    change((before) => [...before, ...weekdays.map((weekday) => ({ weekday, time: at }))])
  }
  const remove = ({ weekday, time }: PostingTime) =>
    change((before) => before.filter((one) => one.weekday !== weekday || one.time !== time))
  const week = weekOf(monday, firstWeekday()).map((day) => new Date(day).getUTCDay() || 7)
  return (
    <Dialog title="Posting times" close={close}>
      <p class="note">
        A post that is added to the queue goes out at the next of these times that is free. They are times of {timezone}
        .
      </p>
      <ul class="posting-times">
        {week.map((weekday) => (
          <li key={weekday} class="posting-day">
            <span>{nameOf(weekday)}</span>
            <span class="chips">
              {times
                .filter((one) => one.weekday === weekday)
                .map((one) => (
                  <button
                    key={one.time}
                    type="button"
                    aria-label={`Remove ${timeOfDay(one.time)} on ${nameOf(weekday)}`}
                    onClick={() => remove(one)}
                  >
                    {timeOfDay(one.time)} ×
                  </button>
                ))}
            </span>
          </li>
        ))}
      </ul>
      <form class="controls" onSubmit={add}>
        <select name="days" aria-label="Days">
          <option value={everyDay.join(',')}>Every day</option>
          <option value={workdays.join(',')}>Monday to Friday</option>
          {week.map((weekday) => (
            <option key={weekday} value={weekday}>
              {nameOf(weekday)}
            </option>
          ))}
        </select>
        <input name="time" type="time" aria-label="Time" defaultValue="09:00" required />
        <button type="submit">Add</button>
      </form>
      <Refusal text={refusal} />
    </Dialog>
  )
}
