/** Tracked links: made here, copied, and what they led to. */
import { useState } from 'preact/hooks'
import { ownUtm } from '../../../schemas/reference/campaign-query.ts'
import { ArchiveTabs, isArchive } from '../parts/archive-tabs.tsx'
import { Copy } from '../parts/copy.tsx'
import { Failure, Refusal } from '../parts/failure.tsx'
import { number, time } from '../parts/format.ts'
import { useListPage } from '../parts/list-pages.tsx'
import { writtenIn } from '../parts/written-in.ts'
import type { Workspace } from '../requests/answers.ts'
import { send } from '../requests/query.ts'
import { serverNow } from '../requests/request.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import type { PageProps } from '../shell/lazy-page.tsx'
import { may } from '../shell/may.ts'
import { CampaignFields, destinationProps, ownFields, useDestination } from './link-campaign.tsx'
import { chosenDomain, DomainField, DomainFilter } from './link-domain.tsx'
import { EditLink, ExpiryFields, type Link, PasswordField, takePassword } from './link-form.tsx'
import { ImportLinks } from './link-import.tsx'
import { LinkNumbers } from './link-numbers.tsx'
import { PreviewFields, takePreview } from './link-preview.tsx'
import { LinkSearch, soughtLinks } from './link-search.tsx'
import { LinkSettings } from './link-settings.tsx'
import { ChosenTag, chosenTag, TagChips, TagField, tagsOf } from './link-tags.tsx'
import { TargetFields, takeTargets } from './link-targets.tsx'

const listed = 100

export function LinksPage({ search, workspace, navigate }: PageProps) {
  const status = isArchive(search) ? 'archived' : 'active'
  const tag = chosenTag(search)
  const q = soughtLinks(search)
  const domain = chosenDomain(search)
  const query = new URLSearchParams({
    include: 'clicks',
    status,
    ...(tag !== undefined && { tag }),
    ...(domain !== undefined && { domain }),
    ...(q && { q }),
  })
  const { answer, failure, isStale, isAwaited, pager } = useListPage<Link>(`/links?${query}`, {
    each: listed,
    after: ({ id }) => ({ before_id: String(id) }),
  })
  const [edited, edit] = useState<Link>()
  const none = status === 'archived' ? 'None is archived.' : `No link yet.${may('links:write') ? makeOne : ''}`
  return (
    <main>
      {failure && <Failure {...failure} />}
      {may('links:write') && <NewLink timezone={workspace.timezone} />}
      <section class="panel paged" aria-label="Links" aria-busy={isAwaited}>
        <ArchiveTabs title="Links" search={search} navigate={navigate} />
        <ChosenTag search={search} navigate={navigate} />
        <LinkSearch search={search}>
          <DomainFilter search={search} navigate={navigate} />
          {may('links:write') && <ImportLinks />}
        </LinkSearch>
        {answer?.length === 0 && !isStale && (
          <p class="empty">
            {q !== '' || (tag !== undefined && domain !== undefined)
              ? 'No link here matches.'
              : tag !== undefined
                ? 'No link here has this tag.'
                : domain !== undefined
                  ? 'No link here stands under this domain.'
                  : none}
          </p>
        )}
        <ul>
          {!isStale &&
            answer?.map((link) => (
              <OneLink
                key={link.id}
                link={link}
                workspace={workspace}
                status={status}
                search={search}
                navigate={navigate}
                edit={() => edit(link)}
              />
            ))}
        </ul>
        {pager}
      </section>
      {edited && <EditLink link={edited} timezone={workspace.timezone} close={() => edit(undefined)} />}
    </main>
  )
}

const makeOne = ' Make one for each place that you post or print. Without a campaign, its visits count as social.'

function NewLink({ timezone }: { readonly timezone: string }) {
  const { refusal, done } = useRefusal()
  const [madeCount, setMadeCount] = useState(0)
  const destination = useDestination()
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const data = new FormData(form)
    const written = writtenIn(form)
    const targets = takeTargets(data)
    const preview = takePreview(data)
    const password = takePassword(data)
    const tags = tagsOf(String(data.get('tags')))
    const names = [...ownFields, 'expires_at', 'expired_url', 'key', 'domain']
    const filled = names.map((name) => [name, data.get(name)]).filter(([, value]) => value)
    const sent = await send('POST', '/links', {
      label: data.get('label'),
      destination_url: data.get('destination'),
      ...Object.fromEntries(filled),
      ...ownUtm(destination.destination),
      ...(targets.length > 0 && { targets }),
      ...(tags.length > 0 && { tags }),
      ...(password != null && { password }),
      ...(preview !== null && { preview }),
    })
    done(sent)
    if ('refusal' in sent || writtenIn(form) !== written) return
    form.reset()
    destination.clear()
    setMadeCount((count) => count + 1)
  }
  return (
    <form class="controls" onSubmit={submit} aria-label="New link">
      <input name="label" aria-label="Label" placeholder="Label" required />
      <input name="destination" aria-label="Destination" {...destinationProps(destination)} />
      <button type="submit">Make a link</button>
      <details class="wide">
        <summary>Key, campaign, tags, expiry, password, other destinations and preview</summary>
        <div class="controls">
          <label>
            Key, the end of the short link (empty: one is made){' '}
            <input name="key" placeholder="spring-sale" autocapitalize="none" />
          </label>
          <DomainField />
          <CampaignFields of={destination} />
          <TagField />
          <ExpiryFields key={`expiry ${madeCount}`} timezone={timezone} />
          <PasswordField />
        </div>
        <TargetFields key={`targets ${madeCount}`} />
        <PreviewFields key={`preview ${madeCount}`} />
      </details>
      <Refusal text={refusal} />
    </form>
  )
}

interface OneLinkProps extends Pick<PageProps, 'search' | 'navigate'> {
  readonly link: Link
  readonly workspace: Workspace
  readonly status: 'active' | 'archived'
  edit(): void
}

function OneLink({ link, workspace, status, search, navigate, edit }: OneLinkProps) {
  const [isOpen, setOpen] = useState(false)
  const { refusal, done } = useRefusal()
  const [verb, label] = status === 'active' ? (['archive', 'Archive'] as const) : (['unarchive', 'Put back'] as const)
  /** It is in the other list, before this one is read anew. */
  const [hasLeft, setLeft] = useState(false)
  const archive = async () => {
    const sent = await send('POST', `/links/${link.id}/${verb}`)
    done(sent)
    setLeft('made' in sent)
  }
  if (hasLeft) return null
  return (
    <li class="item">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="name">
            <bdi>{link.label}</bdi> <bdi class="label">{link.destination_url}</bdi>
          </span>
          {link.has_password && <span class="label">password</span>}
          <Expiry at={link.expires_at} timezone={workspace.timezone} />
          {link.clicks != null && (
            <span class="number">
              {number(link.clicks)} {link.clicks === 1 ? 'click' : 'clicks'}
            </span>
          )}
          <time dateTime={link.created_at}>{time(link.created_at, workspace.timezone)}</time>
        </summary>
        {isOpen && (
          <>
            <Refusal text={refusal} />
            <p class="label">{link.post_url}</p>
            <LinkSettings link={link} timezone={workspace.timezone} />
            {may('links:write') && (
              <button type="button" aria-label={`Change ${link.label}`} onClick={edit}>
                Change
              </button>
            )}
            {may('links:write') && (
              <button
                type="button"
                title={status === 'active' ? 'It leaves the list; it goes on to redirect and to be counted' : undefined}
                aria-label={`${label} ${link.label}`}
                onClick={archive}
              >
                {label}
              </button>
            )}
            {/* Last: it grows as its figures come, and would move the buttons. */}
            <LinkNumbers id={link.id} workspace={workspace} />
          </>
        )}
      </details>
      <TagChips tags={link.tags} search={search} navigate={navigate} />
      <Copy text={link.post_url} label="Copy short link" of={`of ${link.label}`} />
    </li>
  )
}

function Expiry({ at, timezone }: { readonly at: string | null; readonly timezone: string }) {
  if (at === null) return null
  if (Date.parse(at) <= serverNow()) return <span class="bad">expired</span>
  return <span class="label">until {time(at, timezone)}</span>
}
