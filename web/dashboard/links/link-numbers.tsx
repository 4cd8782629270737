/** The figures of an open link: its clicks in total and by lists, what they led to, and its QR code. */
import type { LinkWithClicks } from '../../../schemas/resources/link.ts'
import { Facts } from '../parts/facts.tsx'
import { Failure } from '../parts/failure.tsx'
import { number, percent, revenueText } from '../parts/format.ts'
import type { Workspace } from '../requests/answers.ts'
import { useAnswer } from '../requests/query.ts'
import { choices, countryName } from '../view/filter-values.ts'
import { ClickDays } from './click-days.tsx'
import { visitorsOf } from './link-settings.tsx'
import { QrCode } from './qr-code.tsx'

type LinkWithAll = (typeof LinkWithClicks)['_output']

export function LinkNumbers({ id, workspace: { currency } }: { id: number; workspace: Workspace }) {
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
          ['Revenue', revenue === null ? '–' : revenueText(revenue, currency)],
        ]}
      />
      <div class="columns">
        {visits && visits.pages.length > 0 && <Arrivals pages={visits.pages} />}
        {lists && (
          <>
            <section>
              <h3>Clicks of the last {lists.days.length} days</h3>
              <ClickDays days={lists.days} label={answer.label} />
            </section>
            <Clicks
              title="Countries"
              rows={lists.countries.map(({ country, clicks: n }) => [countryName(country || 'unknown'), n])}
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
            {lists.ways.length > 0 && <Visitors {...lists} />}
          </>
        )}
        <QrCode url={answer.post_url} label={answer.label} />
      </div>
    </>
  )
}

/** How the pages did that visitors arrived on: what tells the destinations of a split test apart. */
function Arrivals({ pages }: Pick<NonNullable<LinkWithAll['visits']>, 'pages'>) {
  return (
    <section>
      <h3>Pages of arrival</h3>
      <ul>
        {pages.map(({ hostname, path, visitors, conversions, conversion_rate: rate }) => (
          <li key={hostname + path} class="event">
            <bdi class="name">{hostname + path}</bdi>
            {conversions > 0 && <span class="label">{converted(conversions, rate)}</span>}
            <span>{number(visitors)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function converted(conversions: number, rate: number): string {
  return `${number(conversions)} ${conversions === 1 ? 'conversion' : 'conversions'}, ${percent(rate)} of visitors`
}

function Visitors({ ways, devices, browsers, systems, cities }: NonNullable<LinkWithAll['click_lists']>) {
  return (
    <>
      <Clicks title="Came by" rows={ways.map(({ way, clicks }) => [wayNames[way], clicks])} />
      <Clicks title="Devices" rows={devices.map(({ device, clicks }) => [deviceName(device), clicks])} />
      <Clicks title="Browsers" rows={browsers.map(({ browser, clicks }) => [browser || 'Unknown', clicks])} />
      <Clicks title="Systems" rows={systems.map(({ system, clicks }) => [system || 'Unknown', clicks])} />
      {cities.some(({ city }) => city !== '') && (
        <Clicks title="Cities" rows={cities.map(({ label, clicks }) => [label || 'Unknown', clicks])} />
      )}
    </>
  )
}

const wayNames = { link: 'Link', qr: 'QR code' }
const deviceName = (key: string) => choices.device?.[key || 'unknown'] ?? key

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
    <section>
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
