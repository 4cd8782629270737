/** Suggestions for steps of funnels and for goals, as lists that fields name: `suggested-path` and `suggested-event`. */
import type { EventNames } from '../../../schemas/resources/event-names.ts'
import type { Overview } from '../requests/answers.ts'
import { useAnswer } from '../requests/query.ts'
import { filterOf, listQuestionOf, type View } from '../view/address.ts'
import { type StepKind, stepKinds } from './funnel-address.ts'

/** Suggestions may be ten minutes old. */
const suggestedAgainMs = 600_000
const suggested = 100

/** The range's top pages and events, whatever the filters. */
export function Suggestions({ view }: { view: View }) {
  const question = listQuestionOf({ ...view, filters: [] })
  const again = { againMs: suggestedAgainMs }
  const { answer: overview } = useAnswer<Overview>(
    `/analytics/overview?include=top_pages&limit=${suggested}&${question}`,
    again,
  )
  const { answer: events } = useAnswer<EventNames>(`/analytics/events?limit=${suggested}&${question}`, again)
  const names = {
    path: (overview?.top_pages ?? []).map(({ path }) => path).filter((path) => path !== ''),
    event: (events?.rows ?? []).map(({ event }) => event),
  }
  return (
    <>
      {(Object.keys(stepKinds) as StepKind[]).map((kind) => (
        <datalist key={kind} id={`suggested-${kind}`}>
          {names[kind].map((name) => (
            <option key={name} value={filterOf(kind, name).value} />
          ))}
        </datalist>
      ))}
    </>
  )
}
