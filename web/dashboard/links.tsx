/** Tracked links: made here, copied, and what they led to. */
import { useState } from 'preact/hooks'
import type { LinkResource, LinkWithClicks } from '../../schemas/resources/link.ts'
import { money, number, time } from './format.ts'
import type { Workspace } from './overview-data.ts'
import { Copy, Facts, Failure, Refusal } from './parts.tsx'
import { send, useAnswer } from './query.ts'

type Link = (typeof LinkResource)['_output']
type LinkWithAll = (typeof LinkWithClicks)['_output']

export function LinksPage({ workspace }: { workspace: Workspace }) {
  const [round, setRound] = useState(0)
  const { answer, failure } = useAnswer<Link[]>('/links?limit=200', { round })
  return (
    <main>
      {failure && <Failure {...failure} />}
      <NewLink made={() => setRound(round + 1)} />
      <section class="panel" aria-label="Links">
        <h2>
          Links<span class="label">Newest first</span>
        </h2>
        {answer?.length === 0 && <p class="empty">No link yet.</p>}
        <ul>
          {answer?.map((link) => (
            <OneLink key={link.id} link={link} workspace={workspace} />
          ))}
        </ul>
      </section>
    </main>
  )
}

function NewLink({ made }: { made(): void }) {
  const [refusal, setRefusal] = useState('')
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const data = new FormData(form)
    const sent = await send('POST', '/links', { label: data.get('label'), destination_url: data.get('destination') })
    if ('refusal' in sent) return setRefusal(sent.refusal)
    setRefusal('')
    form.reset()
    made()
  }
  return (
    <form class="controls" onSubmit={submit} aria-label="New link">
      <input name="label" aria-label="Label" placeholder="Label" required />
      <input name="destination" aria-label="Destination" type="url" placeholder="https://example.com/" required />
      <button type="submit">Make a link</button>
      <Refusal text={refusal} />
    </form>
  )
}

function OneLink({ link, workspace }: { link: Link; workspace: Workspace }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <li class="item">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="name">
            <bdi>{link.label}</bdi> <bdi class="label">{link.destination_url}</bdi>
          </span>
          <time dateTime={link.created_at}>{time(link.created_at, workspace.timezone)}</time>
        </summary>
        {isOpen && <Numbers id={link.id} workspace={workspace} />}
      </details>
      <Copy text={link.post_url} label="Copy short link" />
    </li>
  )
}

function Numbers({ id, workspace: { currency } }: { id: number; workspace: Workspace }) {
  const { answer, failure } = useAnswer<LinkWithAll>(`/links/${id}`)
  if (answer === undefined) return failure ? <Failure {...failure} /> : <p class="empty">…</p>
  const { click_counts: clicks, visits, revenue } = answer
  const shown = (value: number | undefined) => (value === undefined ? '–' : number(value))
  return (
    <Facts
      facts={[
        ['Clicks', shown(clicks?.clicks)],
        ['Clicks of crawlers', shown(clicks?.bots)],
        ['Visitors', shown(visits?.visitors)],
        ['Sessions', shown(visits?.sessions)],
        ['Conversions', shown(visits?.conversions)],
        ['Revenue', money(revenue.revenue_cents, currency)],
      ]}
    />
  )
}
