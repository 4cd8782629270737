/** People: who they are, by search, and what one of them did. */
import { useState } from 'preact/hooks'
import type { Journey, Person } from '../../../schemas/resources/person.ts'
import { ConfirmWrite, useWhileOpen } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { Failure } from '../parts/failure.tsx'
import { fittingMoney, money, number, time } from '../parts/format.ts'
import { useListPage } from '../parts/list-pages.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { Panel } from '../parts/panel.tsx'
import { useSearchField } from '../parts/search-field.ts'
import { send, useAnswer } from '../requests/query.ts'
import type { PageProps } from '../shell/lazy-page.tsx'
import { may } from '../shell/may.ts'
import { useScrollRestoration } from '../shell/scroll-restoration.ts'
import { Timeline } from './journey.tsx'
import { journeyEventsMax } from './journey-lines.ts'
import { personAddress, personParameters } from './person-address.ts'

const listed = 100
const nobodyYet = 'Nobody yet. Each browser that visits stands here, with a name once the site has told whose it is.'

export function PeoplePage({ search, workspace, navigate }: PageProps) {
  const address = new URLSearchParams(search)
  const [contact, browser] = [address.get('contact'), address.get('browser')]
  if (contact === null && browser === null) return <People search={search} workspace={workspace} navigate={navigate} />
  const asked: Record<string, string> = contact === null ? { anonymous_id: browser! } : { contact_id: contact }
  // Nothing of one person stands under the address of another.
  return <OneJourney key={search} asked={asked} workspace={workspace} navigate={navigate} />
}

/** Ids are long, and their begin tells them apart on a page. */
function nameOf({ full_name, email, anonymous_id }: Person): string {
  return full_name || email || `Anonymous ${(anonymous_id ?? '').replace(/^visitor_/, '').slice(0, 8)}`
}

function People({ search, workspace: { timezone, currency }, navigate }: PageProps) {
  const address = new URLSearchParams(search)
  const sought = address.get('q') ?? ''
  const [field, type] = useSearchField(sought, addressOfSearch)
  const { answer, failure, isStale, isAwaited, pager } = useListPage<Person>(
    `/people?${new URLSearchParams({ q: sought })}`,
    {
      each: listed,
      after: ({ contact_id, anonymous_id }) =>
        contact_id === null ? { before_anonymous_id: anonymous_id ?? '' } : { before_id: String(contact_id) },
    },
  )
  useScrollRestoration(answer !== undefined)
  return (
    <main>
      {failure && <Failure {...failure} />}
      {address.has('erased') && (
        <p class="note" role="status">
          The person is being erased. Until that is done, in seconds, their browsers may stand here without a name.
        </p>
      )}
      <div class="controls">
        <input
          ref={field}
          type="search"
          aria-label="Search people"
          defaultValue={sought}
          placeholder="E-mail, name, company, source, campaign"
          onInput={(event) => type(event.currentTarget.value)}
        />
      </div>
      <Panel title="People" label="Last seen first" isBusy={isAwaited}>
        {answer?.length === 0 && !isStale && <p class="empty">{sought === '' ? nobodyYet : 'Nobody matches.'}</p>}
        {answer !== undefined && answer.length > 0 && !isStale && (
          <div class="scrolled wide">
            <table class="all people">
              <thead>
                <tr>
                  {['Person', 'Company', 'Source', 'Sessions', 'Events', 'Conversions', 'Revenue', 'Last seen'].map(
                    (name) => (
                      <th key={name} scope="col">
                        {name}
                      </th>
                    ),
                  )}
                </tr>
              </thead>
              <tbody>
                {answer.map((person) => (
                  <PersonRow
                    key={personAddress(person)}
                    person={person}
                    timezone={timezone}
                    currency={currency}
                    open={() => navigate(personAddress(person))}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
        {pager}
      </Panel>
    </main>
  )
}

function addressOfSearch(text: string): string {
  return `/dashboard/people${text === '' ? '' : `?${new URLSearchParams({ q: text })}`}`
}

interface PersonRowProps {
  readonly person: Person
  readonly timezone: string
  readonly currency: string
  open(): void
}

function PersonRow({ person, timezone, currency, open }: PersonRowProps) {
  const { company, source, session_count, event_count, conversion_count, total_revenue_cents, last_seen_at } = person
  return (
    <tr>
      <th scope="row">
        <button type="button" class="link" title={person.email ?? person.anonymous_id ?? ''} onClick={open}>
          <bdi>{nameOf(person)}</bdi>
        </button>
      </th>
      <td>
        <bdi>{company}</bdi>
      </td>
      <td>
        <bdi>{source}</bdi>
      </td>
      <td>{number(session_count)}</td>
      <td>{number(event_count)}</td>
      <td>{number(conversion_count)}</td>
      <td title={money(total_revenue_cents, currency)}>
        {total_revenue_cents === 0 ? '–' : fittingMoney(total_revenue_cents, currency)}
      </td>
      <td>
        <time dateTime={last_seen_at}>{time(last_seen_at, timezone)}</time>
      </td>
    </tr>
  )
}

interface JourneyProps extends Omit<PageProps, 'search'> {
  /** The parameter of the journey that names the person. */
  readonly asked: Readonly<Record<string, string>>
}

function OneJourney({ asked, workspace: { timezone, currency }, navigate }: JourneyProps) {
  const [isErasing, setErasing] = useState(false)
  const question = new URLSearchParams({ ...asked, limit: String(journeyEventsMax) })
  const { answer, failure } = useAnswer<Journey>(`/people/journey?${question}`)
  const shownFailure = failure && (
    <Failure {...failure}>
      <PageLink path="/dashboard/people" navigate={navigate}>
        All people
      </PageLink>
    </Failure>
  )
  if (answer === undefined) return <main class="skeleton">{shownFailure}</main>
  const { person: known, first_touch, last_touch, events, revenue } = answer
  const replays = new URLSearchParams(personParameters(known))
  return (
    <main>
      {shownFailure}
      <section class="panel" aria-label="Person">
        <h2>
          <bdi>{nameOf(known)}</bdi>
        </h2>
        <Facts
          facts={[
            known.contact_id === null ? ['Id', known.anonymous_id ?? '–'] : ['E-mail', known.email ?? '–'],
            ...(known.company ? ([['Company', known.company]] as const) : []),
            ['First touch', `${first_touch.source} / ${first_touch.medium}`],
            ['Last touch', `${last_touch.source} / ${last_touch.medium}`],
            ['Sessions', number(answer.session_count)],
            ['Events', number(answer.event_count)],
            ['Conversions', number(answer.conversion_count)],
            ['Revenue', money(answer.total_revenue_cents, currency)],
          ]}
        />
        <button type="button" onClick={() => navigate(`/dashboard/replays?${replays}`)}>
          Replays
        </button>{' '}
        {may('workspace:manage') && (
          <button type="button" class="danger" onClick={() => setErasing(true)}>
            Erase this person
          </button>
        )}
        {isErasing && (
          <Erase person={known} close={() => setErasing(false)} erased={() => navigate('/dashboard/people?erased=1')} />
        )}
      </section>
      {revenue.length > 0 && (
        <Panel title="Payments">
          <ul>
            {revenue.map(({ id, provider, value_cents, currency: paid, occurred_at }) => (
              <li key={id} class="event">
                <span class="name">{provider}</span>
                <span>{money(value_cents, paid)}</span>
                <time dateTime={occurred_at}>{time(occurred_at, timezone)}</time>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {events.length === journeyEventsMax && answer.event_count > journeyEventsMax && (
        <p class="note">
          The newest {number(journeyEventsMax)} of {number(answer.event_count)} events:
        </p>
      )}
      <Timeline events={events} timezone={timezone} />
    </main>
  )
}

interface EraseProps {
  readonly person: Person
  erased(): void
  close(): void
}

/** Asks once more: it can't be undone. */
function Erase({ person, erased, close }: EraseProps) {
  const { contact_id, anonymous_id } = person
  const leave = useWhileOpen(erased)
  const erase = () => send('POST', '/people/erase', contact_id === null ? { anonymous_id } : { contact_id })
  return (
    <ConfirmWrite title="Erase this person" verb="Erase" close={close} write={erase} done={leave}>
      <bdi>{nameOf(person)}</bdi> is deleted with browsers, events and every copy. This can’t be undone. Figures leave
      these visits out within a few minutes.
    </ConfirmWrite>
  )
}
