/** Replays: recorded sessions, newest first, and the player of one. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Replay } from '../../../schemas/resources/replay.ts'
import { Failure } from '../parts/failure.tsx'
import { duration, number, time } from '../parts/format.ts'
import { useListPage } from '../parts/list-pages.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { Panel } from '../parts/panel.tsx'
import { personAddress } from '../people/person-address.ts'
import type { PageProps } from '../shell/lazy-page.tsx'
import { may } from '../shell/may.ts'
import { useScrollRestoration } from '../shell/scroll-restoration.ts'
import { searchOf } from '../shell/search-of.ts'
import { addressOf } from '../shell/shared-page.ts'
import { OneReplay } from './replay-player.tsx'

const listed = 50
/** The API answers for so long at once; older replays are read by `start` and `end`. */
const daysShown = 365
const columns = ['Started', 'Entry page', 'Duration', 'Pages', 'Clicks', 'Visitor', 'Browser', 'Country']

export function ReplaysPage({ search, workspace, navigate }: PageProps) {
  const id = new URLSearchParams(search).get('id')
  if (id === null) return <Replays search={search} workspace={workspace} navigate={navigate} />
  return (
    <OneReplay key={id} id={id} workspace={workspace}>
      <div class="controls">
        <button type="button" onClick={() => navigate('/dashboard/replays')}>
          All replays
        </button>
      </div>
    </OneReplay>
  )
}

function Replays({ search, workspace: { timezone }, navigate }: PageProps) {
  const address = new URLSearchParams(search)
  const asked = new URLSearchParams({ days: String(daysShown) })
  for (const name of ['contact_id', 'anonymous_id', 'path', 'min_seconds']) {
    const value = address.get(name)
    if (value) asked.set(name, value)
  }
  const { answer, failure, isStale, isAwaited, pager } = useListPage<Replay>(`/replays?${asked}`, {
    each: listed,
    after: ({ id }) => ({ before_id: String(id) }),
  })
  useScrollRestoration(answer !== undefined)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const next = new URLSearchParams()
    for (const [name, value] of new FormData(event.currentTarget as HTMLFormElement)) {
      if (typeof value === 'string' && value.trim() !== '') next.set(name, value.trim())
    }
    for (const name of ['contact_id', 'anonymous_id']) if (address.has(name)) next.set(name, address.get(name)!)
    navigate(`/dashboard/replays${searchOf(next)}`)
  }
  const form = useRef<HTMLFormElement>(null)
  // Another address has other fields. The focus stays in its own.
  useLayoutEffect(() => form.current!.reset(), [search])
  const isFiltered = [...asked].length > 1
  const isEmpty = answer?.length === 0 && !isStale
  const isOfOne = address.has('contact_id') || address.has('anonymous_id')
  return (
    <main>
      {failure && <Failure {...failure} />}
      <form ref={form} class="controls" onSubmit={submit}>
        <input
          name="path"
          type="search"
          aria-label="Path"
          placeholder="Path, such as /pricing"
          defaultValue={address.get('path') ?? ''}
        />
        <input
          name="min_seconds"
          type="number"
          min="1"
          aria-label="Minimum seconds"
          placeholder="Minimum seconds"
          defaultValue={address.get('min_seconds') ?? ''}
        />
        <button type="submit">Filter</button>
        <button type="button" onClick={() => navigate(mapAddress(address.get('path')))}>
          Click map
        </button>
        {isOfOne && (
          <button type="button" onClick={() => navigate('/dashboard/replays')}>
            All visitors
          </button>
        )}
      </form>
      <Panel title="Replays" label={`The last ${daysShown} days, newest first`} isBusy={isAwaited}>
        {isEmpty && isFiltered && (
          <p class="empty">
            No replay matches.{' '}
            <button type="button" class="link" onClick={() => navigate('/dashboard/replays')}>
              Show all
            </button>
          </p>
        )}
        {isEmpty && !isFiltered && (
          <p class="empty">
            No replays yet. Where replay is on, a share of the sessions is recorded.{' '}
            {may('workspace:manage') && <a href={addressOf('/dashboard/settings')}>See the settings</a>}
          </p>
        )}
        {answer !== undefined && answer.length > 0 && !isStale && (
          <div class="scrolled wide">
            <table class="all">
              <thead>
                <tr>
                  {columns.map((name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {answer.map((replay) => (
                  <ReplayRow key={replay.id} replay={replay} timezone={timezone} navigate={navigate} />
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

function mapAddress(path: string | null): string {
  return `/dashboard/click-map${path ? `?${new URLSearchParams({ path })}` : ''}`
}

function ReplayRow({ replay, timezone, navigate }: { replay: Replay; timezone: string; navigate(path: string): void }) {
  const address = `/dashboard/replays?id=${replay.id}`
  const { contact_id, anonymous_id } = replay
  return (
    <tr>
      <th scope="row">
        <PageLink path={address} navigate={navigate}>
          {time(replay.started_at, timezone)}
        </PageLink>
      </th>
      <td>
        <bdi>{replay.entry_path}</bdi>
      </td>
      <td>{duration(replay.duration_ms / 1000)}</td>
      <td>{number(replay.pages)}</td>
      <td>{number(replay.clicks)}</td>
      <td>
        <PageLink path={personAddress(replay)} navigate={navigate}>
          <bdi>{contact_id === null ? `Anonymous ${anonymous_id.slice(0, 8)}` : `Contact ${contact_id}`}</bdi>
        </PageLink>
      </td>
      <td>{replay.browser}</td>
      <td>{replay.country}</td>
    </tr>
  )
}
