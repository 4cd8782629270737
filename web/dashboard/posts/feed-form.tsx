/** Adds a feed or changes one, with a preview of its newest entries as posts would read. */
import { useState } from 'preact/hooks'
import type { FeedPreview } from '../../../schemas/resources/feed.ts'
import { changesOf } from '../parts/changes-of.ts'
import { Choices } from '../parts/choices.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/failure.tsx'
import { fetchOnce, send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'
import type { Feed } from './feeds.tsx'
import type { Account } from './post-draft.ts'

type Preview = (typeof FeedPreview)['_output']

interface FormProps {
  /** Undefined: a new one. */
  readonly feed: Feed | undefined
  close(): void
  made(feed: Feed): void
}

/** Longer than the server reads a page, and then the feed that it names. */
const withinFeedMs = 60_000

const usualTemplate = '{title}\n\n{link}'

export function FeedForm({ feed, close, made }: FormProps) {
  const [before] = useState(feed)
  const { answer: accounts } = useAnswer<Account[]>('/social-accounts')
  /** In the order of the form. */
  const chosenOf = ({ social_account_ids: ids }: Feed) =>
    accounts && { social_account_ids: accounts.map(({ id }) => id).filter((id) => ids.includes(id)) }
  const submit = (data: FormData) => {
    const settings = {
      // Those of the feed stay, where the form was faster than their list.
      ...(accounts && { social_account_ids: data.getAll('accounts').map(Number) }),
      mode: String(data.get('mode')),
      // Forms send line ends as CR LF.
      template: String(data.get('template')).replaceAll('\r\n', '\n'),
      shortens_links: data.has('shortens_links'),
    }
    if (before)
      return send<Feed>('PATCH', `/feeds/${before.id}`, changesOf(settings, { ...before, ...chosenOf(before) }))
    return send<Feed>('POST', '/feeds', { url: data.get('url'), ...settings, posts_newest: data.has('posts_newest') })
  }
  return (
    <FormDialog title={before ? 'Change a feed' : 'Add a feed'} verb="Save" close={close} made={made} submit={submit}>
      <label>
        Address of the feed, or of its site
        <input name="url" type="url" required readOnly={before !== undefined} defaultValue={before?.url ?? ''} />
      </label>
      {accounts && (
        <Choices
          legend="Accounts"
          name="accounts"
          values={accounts.map(({ id }) => String(id))}
          names={Object.fromEntries(accounts.map(({ id, platform, handle }) => [id, `${platform} ${handle}`]))}
          chosen={before?.social_account_ids.map(String) ?? []}
        />
      )}
      <label>
        New entries
        <select name="mode" defaultValue={before?.mode ?? 'draft'}>
          <option value="draft">become drafts</option>
          {may('posts:publish') && <option value="queue">are added to the queue</option>}
        </select>
      </label>
      <label>
        Caption, with {'{title}'}, {'{link}'}, {'{summary}'} and {'{author}'} of the entry
        <textarea name="template" rows={4} required defaultValue={before?.template ?? usualTemplate} />
      </label>
      <label class="choice">
        <input type="checkbox" name="shortens_links" defaultChecked={before?.shortens_links ?? false} /> Links are
        tracked short links
      </label>
      {!before && (
        <label class="choice">
          <input type="checkbox" name="posts_newest" /> The newest entry becomes a post now
        </label>
      )}
      <PreviewOfEntries />
    </FormDialog>
  )
}

/** By what the form around it has when it is asked for. */
function PreviewOfEntries() {
  const [preview, setPreview] = useState<Preview>()
  const [isAwaited, setAwaited] = useState(false)
  const { refusal, done } = useRefusal()
  const ask = async (form: HTMLFormElement) => {
    const data = new FormData(form)
    const url = data.get('url')
    setAwaited(true)
    const asked = { url, template: data.get('template') }
    const sent = await fetchOnce<Preview>('/feeds/preview', asked, { withinMs: withinFeedMs })
    // It was closed meanwhile: nobody waits for the preview any more.
    if (!form.isConnected) return
    setAwaited(false)
    done(sent)
    setPreview('made' in sent ? sent.made : undefined)
    const address = form.elements.namedItem('url') as HTMLInputElement
    // Another address may have been written meanwhile.
    if ('made' in sent && !address.readOnly && address.value === url) address.value = sent.made.url
  }
  return (
    <>
      <button type="button" aria-disabled={isAwaited} onClick={({ currentTarget }) => ask(currentTarget.form!)}>
        Preview
      </button>
      <Refusal text={refusal} />
      {preview && (
        <section aria-label="Preview" role="status">
          {preview.entries.length === 0 && <p class="empty">The feed has no entries now.</p>}
          {preview.entries.map(({ caption }, at) => (
            <p key={at} class="caption">
              <bdi>{caption}</bdi>
            </p>
          ))}
        </section>
      )}
    </>
  )
}
