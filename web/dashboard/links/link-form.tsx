/** The fields of a tracked link, for a new one and for a change. */
import { useState } from 'preact/hooks'
import type { ListedLink } from '../../../schemas/resources/link.ts'
import { changesOf } from '../parts/changes-of.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { localMoment } from '../parts/format.ts'
import { send } from '../requests/query.ts'
import { CampaignFields, destinationProps, useDestination } from './link-campaign.tsx'
import { PreviewFields, takePreview } from './link-preview.tsx'
import { TagField, tagsOf } from './link-tags.tsx'
import { TargetFields, takeTargets } from './link-targets.tsx'

export type Link = (typeof ListedLink)['_output']

interface ExpiryProps {
  readonly timezone: string
  readonly of?: Pick<Link, 'expires_at' | 'expired_url'>
}

export function ExpiryFields({ timezone, of }: ExpiryProps) {
  const shown = shownEnd(of?.expires_at, timezone)
  const [end, setEnd] = useState(shown)
  return (
    <>
      <label>
        Expires, in {timezone}{' '}
        <input
          name="expires_at"
          type="datetime-local"
          defaultValue={shown}
          onInput={({ currentTarget: { value } }) => setEnd(value)}
        />
        {/* Firefox's picker sets only the day. A day without a time counts as an empty field. */}
        {end === '' && <span class="note">Without day and time it doesn’t expire.</span>}
      </label>
      <label>
        Then leads to (empty: nowhere){' '}
        <input name="expired_url" type="url" placeholder="https://example.com/" defaultValue={of?.expired_url ?? ''} />
      </label>
    </>
  )
}

function shownEnd(moment: string | null | undefined, timezone: string): string {
  return moment == null ? '' : localMoment(moment, timezone)
}

interface PasswordProps {
  readonly of?: Pick<Link, 'has_password'>
}

/** The server keeps a hash alone: the password can be replaced or taken away, and not shown. */
export function PasswordField({ of }: PasswordProps) {
  const label = of?.has_password ? 'Another password (empty: it stays)' : 'Password (empty: none)'
  return (
    <>
      <label>
        {label} <input name="password" type="password" autocomplete="new-password" />
      </label>
      {of?.has_password && (
        <label>
          <input name="has_no_password" type="checkbox" /> Take the password away
        </label>
      )}
    </>
  )
}

interface EditProps {
  readonly link: Link
  readonly timezone: string
  close(): void
}

export function EditLink({ link: { id, ...fields }, timezone, close }: EditProps) {
  /** As the form was filled. */
  const [link] = useState(fields)
  const destination = useDestination(link)
  const submit = (data: FormData) => {
    const before = {
      ...link,
      expires_at: shownEnd(link.expires_at, timezone),
      expired_url: link.expired_url ?? '',
      tags: link.tags.join(', '),
    }
    const targets = takeTargets(data)
    const preview = takePreview(data)
    const password = takePassword(data)
    const changes = changesOf({ ...before, ...Object.fromEntries(data), targets, preview }, before)
    const { expires_at: end, expired_url: url, tags } = changes
    return send('PATCH', `/links/${id}`, {
      ...changes,
      ...(end !== undefined && { expires_at: end || null }),
      ...(url !== undefined && { expired_url: url || null }),
      ...(tags !== undefined && { tags: tagsOf(tags) }),
      ...(password !== undefined && { password }),
    })
  }
  return (
    <FormDialog title="Change the link" verb="Save" close={close} submit={submit}>
      <label>
        Label
        <input name="label" defaultValue={link.label} required />
      </label>
      <TagField of={link.tags} />
      <label>
        Destination
        <input name="destination_url" {...destinationProps(destination)} />
      </label>
      <CampaignFields of={destination} />
      <ExpiryFields timezone={timezone} of={link} />
      <PasswordField of={link} />
      <TargetFields of={link.targets} />
      <PreviewFields of={link.preview} />
      <p class="note">The short URL stays as it is. An expired link counts no clicks.</p>
    </FormDialog>
  )
}

/** Takes the fields of the password out of a form's data. Undefined: it stays. */
export function takePassword(data: FormData): string | null | undefined {
  const [isRemoved, password] = [data.has('has_no_password'), String(data.get('password') ?? '')]
  for (const name of ['password', 'has_no_password']) data.delete(name)
  return isRemoved ? null : password || undefined
}
