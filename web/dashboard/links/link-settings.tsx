/** How a tracked link is set: where it leads, for whom elsewhere, until when, by which password, and its preview. */
import type { TrackedLinkTarget } from '../../../schemas/resources/link.ts'
import { percent, time } from '../parts/format.ts'
import { serverNow } from '../requests/request.ts'
import { countryName } from '../view/filter-values.ts'
import type { Link } from './link-form.tsx'
import { PreviewCard } from './link-preview.tsx'
import { deviceNames } from './link-targets.tsx'

interface SettingsProps {
  readonly link: Link
  readonly timezone: string
}

export function LinkSettings({ link, timezone }: SettingsProps) {
  return (
    <div class="columns">
      <section>
        <h3>Settings</h3>
        <ul>
          {link.targets.map((target, at) => (
            <Setting key={`${at} ${target.destination_url}`} name={visitorsOf(target)} value={target.destination_url} />
          ))}
          <Setting name={link.targets.length > 0 ? 'All others' : 'Leads to'} value={link.destination_url} />
          <Setting name="Password" value={link.has_password ? 'Visitors are asked for one' : 'None'} />
          <Setting name="End" value={endOf(link, timezone)} />
          {link.expires_at !== null && <Setting name="Then leads to" value={link.expired_url ?? 'Nowhere'} />}
        </ul>
      </section>
      <section>
        <h3>Preview in apps</h3>
        {link.preview === null ? (
          <p class="label">Apps show what they find at the destination.</p>
        ) : (
          <PreviewCard {...link.preview} image_url={link.preview.image_url ?? ''} />
        )}
      </section>
    </div>
  )
}

function Setting({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <li class="event">
      <span>{name}</span>
      <bdi class="name">{value}</bdi>
    </li>
  )
}

/** Whom a target is for, in words. */
export function visitorsOf({ device, countries = [], share }: TrackedLinkTarget): string {
  const places = countries.map(countryName).join(', ')
  const named = device === undefined ? '' : deviceNames[device]
  const who = [named, places].filter((text) => text !== '').join(' in ')
  if (share === undefined) return who
  return `${percent(share)} of visitors${who && `: ${who}`}`
}

function endOf({ expires_at: at }: Link, timezone: string): string {
  if (at === null) return 'None'
  return Date.parse(at) <= serverNow() ? `Since ${time(at, timezone)}` : time(at, timezone)
}
