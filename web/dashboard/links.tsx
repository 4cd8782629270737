/** Tracked links: made here, copied, and what they led to. */
import { useState } from 'preact/hooks'
import { renderSVG } from 'uqr'
import { ownUtm } from '../../schemas/reference/campaign-query.ts'
import type { LinkWithClicks } from '../../schemas/resources/link.ts'
import { ClickDays } from './click-days.tsx'
import { money, number, time } from './format.ts'
import type { PageProps } from './later.tsx'
import { CampaignFields, destinationProps, ownFields, useDestination } from './link-campaign.tsx'
import { EditLink, ExpiryFields, type Link, PasswordField, takePassword } from './link-form.tsx'
import { ImportLinks } from './link-import.tsx'
import { PreviewFields, takePreview } from './link-preview.tsx'
import { LinkSearch, soughtLinks } from './link-search.tsx'
import { LinkSettings, visitorsOf } from './link-settings.tsx'
import { ChosenTag, chosenTag, TagChips, TagField, tagsOf } from './link-tags.tsx'
import { TargetFields, takeTargets } from './link-targets.tsx'
import { useListPage } from './list-pages.tsx'
import { may } from './may.ts'
import type { Workspace } from './overview-data.ts'
import { ArchiveTabs, Copy, Facts, Failure, isArchive, Refusal } from './parts.tsx'
import { send, useAnswer, useRefusal } from './query.ts'
import { serverNow } from './request.ts'

type LinkWithAll = (typeof LinkWithClicks)['_output']

const listed = 100

export function LinksPage({ search, workspace, navigate }: PageProps) {
  const status = isArchive(search) ? 'archived' : 'active'
  const tag = chosenTag(search)
  const q = soughtLinks(search)
  const query = new URLSearchParams({ include: 'clicks', status, ...(tag !== undefined && { tag }), ...(q && { q }) })
  const { answer, failure, isStale, isAwaited, pager } = useListPage<Link>(`/links?${query}`, {
    each: listed,
    after: ({ id }) => ({ before_id: String(id) }),
  })
  const none = status === 'archived' ? 'None is archived.' : `No link yet.${may('links:write') ? makeOne : ''}`
  return (
    <main>
      {failure && <Failure {...failure} />}
      {may('links:write') && <NewLink timezone={workspace.timezone} />}
      <section class="panel" aria-label="Links" aria-busy={isAwaited}>
        <ArchiveTabs title="Links" search={search} navigate={navigate} />
        <ChosenTag {...{ search, navigate }} />
        <LinkSearch search={search} />
        {may('links:write') && <ImportLinks />}
        {answer?.length === 0 && !isStale && (
          <p class="empty">
            {q !== '' ? 'No link here matches.' : tag === undefined ? none : 'No link here has this tag.'}
          </p>
        )}
        <ul>
          {!isStale &&
            answer?.map((link) => <OneLink key={link.id} {...{ link, workspace, status, search, navigate }} />)}
        </ul>
        {pager}
      </section>
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
    const targets = takeTargets(data)
    const preview = takePreview(data)
    const password = takePassword(data)
    const tags = tagsOf(String(data.get('tags')))
    const names = [...ownFields, 'expires_at', 'expired_url', 'key']
    const filled = names.map((name) => [name, data.get(name)]).filter(([, value]) => value !== '')
    const sent = await send('POST', '/links', {
      ...{ label: data.get('label'), destination_url: data.get('destination') },
      ...Object.fromEntries(filled),
      ...ownUtm(destination.destination),
      ...(targets.length > 0 && { targets }),
      ...(tags.length > 0 && { tags }),
      ...(password != null && { password }),
      ...(preview !== null && { preview }),
    })
    done(sent)
    if ('refusal' in sent) return
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
            Key, the end of the short link (empty: one is made) <input name="key" placeholder="spring-sale" />
          </label>
          <CampaignFields of={destination} />
          <TagField />
          <ExpiryFields timezone={timezone} />
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
}

function OneLink({ link, workspace, status, search, navigate }: OneLinkProps) {
  const [isOpen, setOpen] = useState(false)
  const [isEdited, edit] = useState(false)
  const { refusal, done } = useRefusal()
  const [verb, label] = status === 'active' ? (['archive', 'Archive'] as const) : (['unarchive', 'Put back'] as const)
  const archive = async () => done(await send('POST', `/links/${link.id}/${verb}`))
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
            <Numbers id={link.id} workspace={workspace} />
            {may('links:write') && (
              <button type="button" aria-label={`Change ${link.label}`} onClick={() => edit(true)}>
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
          </>
        )}
      </details>
      <TagChips tags={link.tags} {...{ search, navigate }} />
      <Copy text={link.post_url} label="Copy short link" />
      {isEdited && <EditLink {...{ link, timezone: workspace.timezone }} close={() => edit(false)} />}
    </li>
  )
}

function Expiry({ at, timezone }: { readonly at: string | null; readonly timezone: string }) {
  if (at === null) return null
  if (Date.parse(at) <= serverNow()) return <span class="bad">expired</span>
  return <span class="label">until {time(at, timezone)}</span>
}

function Numbers({ id, workspace: { currency } }: { id: number; workspace: Workspace }) {
  const { answer, failure } = useAnswer<LinkWithAll>(`/links/${id}`)
  if (answer === undefined) return failure ? <Failure {...failure} /> : <p class="empty">…</p>
  const { click_counts: clicks, click_lists: lists, visits, revenue } = answer
  const shown = (value: number | undefined) => (value === undefined ? '–' : number(value))
  return (
    <>
      <Facts
        facts={[
          ['Clicks', shown(clicks?.clicks)],
          ['Clicks of crawlers', shown(clicks?.bots)],
          ['Visitors', shown(visits?.visitors)],
          ['Sessions', shown(visits?.sessions)],
          ['Conversions', shown(visits?.conversions)],
          ['Revenue', revenue === null ? '–' : money(revenue.revenue_cents, currency)],
        ]}
      />
      <div class="columns">
        {lists && (
          <>
            <section aria-label="Days">
              <h3>Clicks of the last {lists.days.length} days</h3>
              <ClickDays days={lists.days} />
            </section>
            <Clicks
              title="Countries"
              rows={lists.countries.map(({ country, clicks: n }) => [countryName(country), n])}
            />
            {(answer.targets.length > 0 || lists.targets.some(({ destination_url: url }) => url !== null)) && (
              <Clicks
                title="Where they led"
                rows={lists.targets.map(({ destination_url: url, clicks: n }) => [
                  url ?? 'The link’s destination',
                  n,
                  sharesTo(url, answer.targets),
                ])}
              />
            )}
            <Clicks title="Referrers" rows={lists.referrers.map(({ host, clicks: n }) => [host || 'None', n])} />
          </>
        )}
        <QrCode text={answer.post_url} />
      </div>
    </>
  )
}

/** The shares of visitors that are led to `url` as the link is set now; empty where none is a share. */
function sharesTo(url: string | null, targets: LinkWithAll['targets']): string {
  const shared = targets.filter(({ destination_url, share }) => destination_url === url && share !== undefined)
  return shared.map(visitorsOf).join('; ')
}

interface ClicksProps {
  readonly title: string
  readonly rows: readonly (readonly [name: string, clicks: number, note?: string])[]
}

function Clicks({ title, rows }: ClicksProps) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {rows.length === 0 && <p class="empty">No clicks yet.</p>}
      <ul>
        {rows.map(([name, clicks, note]) => (
          <li key={name} class="event">
            <bdi class="name">{name}</bdi>
            {note && <span class="label">{note}</span>}
            <span>{number(clicks)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** In the browser's language. */
function countryName(code: string): string {
  return (code && new Intl.DisplayNames(undefined, { type: 'region', fallback: 'code' }).of(code)) || 'Unknown'
}

/** The empty margin that ISO/IEC 18004 asks for, so that cameras find the code on any ground. */
const quietModules = 4

/** Pixels of each side: enough for a poster's corner. */
const pngPixels = 1024

/** @param source an image that may be drawn at any size */
async function savePng(source: string, name: string): Promise<void> {
  const image = new Image(pngPixels, pngPixels)
  image.src = source
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = pngPixels
  canvas.getContext('2d')!.drawImage(image, 0, 0, pngPixels, pngPixels)
  const link = document.createElement('a')
  link.href = canvas.toDataURL('image/png')
  link.download = name
  link.click()
}

/** For print: it leads where the short link does. */
function QrCode({ text }: { text: string }) {
  const source = `data:image/svg+xml,${encodeURIComponent(renderSVG(text, { border: quietModules }))}`
  const name = text.slice(text.lastIndexOf('/') + 1)
  return (
    <section aria-label="QR code">
      <h3>QR code</h3>
      <img class="qr" src={source} alt={`QR code of ${text}`} width={160} height={160} />
      <a href={source} download={`${name}.svg`}>
        Download SVG
      </a>{' '}
      <button type="button" class="link" onClick={() => savePng(source, `${name}.png`)}>
        Download PNG
      </button>
    </section>
  )
}
