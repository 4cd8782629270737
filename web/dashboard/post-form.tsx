/** The editor of a post: text, accounts, media and time, with what each network would show and what stands in the way. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { changesOf } from './changes-of.ts'
import { localMoment } from './format.ts'
import { may } from './may.ts'
import type { Workspace } from './overview-data.ts'
import { Refusal } from './parts.tsx'
import { FirstComment } from './post-comment.tsx'
import {
  type Account,
  asSent,
  type Draft,
  draftOf,
  fresh,
  type Post,
  textsPublished,
  withTracked,
} from './post-draft.ts'
import { MediaFiles, useAltTexts } from './post-media.tsx'
import { soon } from './post-move.ts'
import { PreviewOf, usePreview } from './post-preview.tsx'
import { stepsFromFailed, takeSteps } from './post-steps.ts'
import { ThreadParts } from './post-thread.tsx'
import { type Queue, QueueButton } from './posting-times.tsx'
import { type Sent, send, useAnswer } from './query.ts'
import { splitField, TrackButton } from './track-button.tsx'
import { networksOf, trackLinks } from './track-links.ts'
import { mayLeave, useUnsaved } from './unsaved.ts'

interface PostFormProps {
  /** The post to change: a draft, scheduled, or one that failed everywhere. Without one a post is made. */
  readonly post?: Post
  /** When a new one is to go out: local to the workspace. */
  readonly at?: string | undefined
  readonly workspace: Workspace
  readonly queue: Queue
  done(): void
}

export function PostForm({ post, at, workspace, queue, done }: PostFormProps) {
  const [draft, setDraft] = useState<Draft>(() =>
    post ? draftOf(post, workspace.timezone) : { ...fresh, scheduled_at: at ?? null },
  )
  /** The post with what is known to be saved of the draft. */
  const saved = useRef(post && { id: post.id, updated_at: post.updated_at, draft })
  /** They make a draft of a post that failed; those that are done are left out. */
  const stepsAhead = useRef(post?.status === 'failed' ? stepsFromFailed() : [])
  const [refusal, setRefusal] = useState('')
  const [isSending, setSending] = useState(false)
  const [uploads, setUploads] = useState(0)
  /** Keys of the parts whose chosen file isn't added yet; the caption's is 0. */
  const [held, setHeld] = useState<readonly number[]>([])
  const begun = useRef(draft)
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved.current?.draft ?? begun.current)
  const altTexts = useAltTexts([...draft.media_ids, ...draft.thread.flatMap(({ media_ids }) => media_ids)])
  const isUnsaved = isChanged || held.length > 0 || uploads > 0 || altTexts.areUnsaved
  // The form of a new post stays while the page shows other posts.
  useUnsaved(isUnsaved, { keptAt: post === undefined ? '/dashboard/posts' : undefined })
  const { answer: accounts } = useAnswer<Account[]>('/social-accounts')
  const chosen = asSent(draft, accounts)
  const { preview, refusal: previewRefusal } = usePreview(chosen, altTexts.saves)
  // One that nobody changed stays the moment that it is.
  const isSameTime = post?.scheduled_at && draft.scheduled_at === localMoment(post.scheduled_at, workspace.timezone)
  const scheduled_at = isSameTime ? post.scheduled_at : draft.scheduled_at
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  const chooseParts = (choice: (before: Draft['thread']) => Draft['thread']) =>
    setDraft((before) => ({ ...before, thread: choice(before.thread) }))
  const filesOf = (key: number) => ({
    ...{ altTexts, refuse: setRefusal },
    underWay: (more: 1 | -1) => setUploads((before) => before + more),
    held: (isHeld: boolean) => setHeld((before) => [...before.filter((one) => one !== key), ...(isHeld ? [key] : [])]),
  })
  const networks = networksOf(accounts?.filter(({ id }) => draft.social_account_ids.includes(id)) ?? [])
  // Another day was chosen in the calendar: what was written stays.
  useEffect(() => {
    if (at !== undefined) change({ scheduled_at: at })
  }, [at])
  const platforms = networks.map(({ platform }) => platform)
  const showsTitle = platforms.some((platform) => ['youtube', 'pinterest'].includes(platform))
  const isScheduled = post?.status === 'scheduled'
  const mayPublish = may('posts:publish')
  const isBusy = isSending || uploads > 0
  const heading = saved.current ? 'Change the post' : 'New post'
  // The refusal names the field, too.
  const isSaid = (text: string) => refusal.includes(text)

  /** A post that failed can't be changed. @returns why it is none that can be; '' where it is */
  async function makeEditable(id: number): Promise<string> {
    const [step] = stepsAhead.current
    if (step === undefined) return ''
    const sent = await takeSteps(id, [step])
    if ('refusal' in sent) return sent.refusal
    stepsAhead.current = stepsAhead.current.slice(1)
    saved.current = { ...saved.current!, updated_at: sent.made.updated_at }
    return makeEditable(id)
  }

  /** A time that nobody changed isn't sent: a local time may be twice in a night. */
  async function write(next: Draft): Promise<Sent<Pick<Post, 'id' | 'updated_at'>>> {
    const whole = asSent(next, accounts)
    const known = saved.current
    const changes = known && changesOf(whole, asSent(known.draft, accounts))
    if (known && Object.keys(changes!).length === 0) return { made: known }
    const refused = known ? await makeEditable(known.id) : ''
    if (refused !== '') return { refusal: refused }
    const sent = known
      ? await send<Post>('PATCH', `/posts/${known.id}`, changes)
      : await send<Post>('POST', '/posts', whole)
    if ('made' in sent) saved.current = { id: sent.made.id, updated_at: sent.made.updated_at, draft: next }
    return sent
  }

  /** A post that was made stays made when its schedule is refused: the next try changes it. */
  async function save(pressed: string | undefined): Promise<string> {
    const sent = await write(draft)
    if ('refusal' in sent) return sent.refusal
    if (pressed === 'submit') {
      const asked = await send('POST', `/posts/${sent.made.id}/submit`)
      return 'refusal' in asked ? `Saved as a draft, but without asking for approval: ${asked.refusal}` : ''
    }
    const time = timeOf(pressed)
    if (pressed !== 'queue' && time === undefined) return ''
    const path = pressed === 'queue' ? 'queue' : isScheduled ? 'reschedule' : 'schedule'
    const { id, updated_at } = sent.made
    const times = time === undefined ? undefined : { scheduled_at: time }
    const scheduled = await send('POST', `/posts/${id}/${path}`, {
      ...times,
      ...(path !== 'reschedule' && { updated_at }),
    })
    if (!('refusal' in scheduled)) return ''
    const kept = isScheduled ? 'Saved' : 'Saved as a draft'
    return `${kept}, but not ${pressed === 'now' ? 'published' : 'scheduled'}: ${scheduled.refusal}`
  }

  /** A link names its post, so a new one is saved first; then the captions with their links are. */
  async function track(isSplit: boolean): Promise<string> {
    const sent = await write(draft)
    if ('refusal' in sent) return sent.refusal
    const tracked = await trackLinks(draft, { id: sent.made.id, title: draft.title, networks, isSplit })
    // Text that is typed meanwhile stays as it is typed.
    setDraft((now) => withTracked(now, draft, tracked.draft))
    if (tracked.refusal !== '') return tracked.refusal
    const again = await write(tracked.draft)
    return 'refusal' in again ? again.refusal : ''
  }

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    const pressed = (event.submitter as HTMLButtonElement | null)?.value
    const isSplit = new FormData(event.currentTarget as HTMLFormElement).has(splitField)
    if (held.length > 0) return setRefusal('Add the chosen file first, or choose none.')
    if (pressed === 'schedule' && !scheduled_at) return setRefusal('Choose the time first.')
    setSending(true)
    // The click that left a text's field sent it: then this waits for the same answer.
    const refused = (await altTexts.save()) || (await (pressed === 'track' ? track(isSplit) : save(pressed)))
    setSending(false)
    setRefusal(refused)
    if (refused === '' && pressed !== 'track') done()
  }

  /** Undefined: it is only saved, or the queue has the time. */
  function timeOf(pressed: string | undefined): string | undefined {
    if (pressed === 'now') return soon()
    return pressed === 'schedule' ? (scheduled_at ?? undefined) : undefined
  }

  return (
    <form class="panel editor" aria-label={heading} onSubmit={submit}>
      <h2>{heading}</h2>
      <label>
        {showsTitle ? 'Title (YouTube and Pinterest show it)' : 'Title (only you see it)'}
        <input required value={draft.title} onInput={(event) => change({ title: event.currentTarget.value })} />
      </label>
      <label>
        Caption
        <textarea
          required
          rows={5}
          value={draft.base_caption}
          onInput={(event) => change({ base_caption: event.currentTarget.value })}
        />
      </label>
      <ThreadParts
        parts={draft.thread}
        published={post ? textsPublished(post) : 0}
        platforms={platforms}
        choose={chooseParts}
        files={(part, of, isFixed) => (
          <MediaFiles
            {...{ of, isFixed, ids: part.media_ids }}
            {...filesOf(part.key)}
            choose={(choice) =>
              chooseParts((parts) =>
                parts.map((one) => (one.key === part.key ? { ...one, media_ids: choice(one.media_ids) } : one)),
              )
            }
          />
        )}
      />
      <Accounts
        accounts={accounts}
        chosen={draft.social_account_ids}
        choose={(ids) => change({ social_account_ids: ids })}
      />
      <FirstComment text={draft.first_comment} {...{ platforms, change }} />
      <MediaFiles
        ids={draft.media_ids}
        {...filesOf(0)}
        choose={(choice) => setDraft((before) => ({ ...before, media_ids: choice(before.media_ids) }))}
      />
      <label>
        Tags, with commas between them (only you see them)
        <input value={draft.tags.join(',')} onInput={(event) => change({ tags: tagsOf(event.currentTarget.value) })} />
      </label>
      <label>
        Time, in {workspace.timezone}
        <input
          type="datetime-local"
          value={draft.scheduled_at ?? ''}
          onInput={(event) => change({ scheduled_at: event.currentTarget.value || null })}
        />
      </label>
      {preview && <PreviewOf {...{ preview, isSaid, draft, change }} />}
      {!isSaid(previewRefusal) && <Refusal text={previewRefusal} />}
      <Refusal text={refusal} />
      <div class="controls">
        <button type="submit" value="save" disabled={isBusy}>
          {isScheduled ? 'Save' : 'Save the draft'}
        </button>
        {!mayPublish && (
          <button type="submit" value="submit" disabled={isBusy}>
            Ask for approval
          </button>
        )}
        {mayPublish && !isScheduled && (
          <>
            <button type="submit" value="schedule" disabled={isBusy}>
              Schedule
            </button>
            <QueueButton {...{ queue, timezone: workspace.timezone }} type="submit" value="queue" disabled={isBusy} />
          </>
        )}
        {mayPublish && (
          <button type="submit" value="now" disabled={isBusy} title="It goes out within half a minute">
            Publish now
          </button>
        )}
        <TrackButton networks={networks} isDisabled={isBusy} />
        <button type="button" onClick={() => mayLeave() && done()}>
          Close
        </button>
      </div>
    </form>
  )
}

interface AccountsProps {
  readonly accounts: readonly Account[] | undefined
  readonly chosen: readonly number[]
  choose(ids: number[]): void
}

function Accounts({ accounts, chosen, choose }: AccountsProps) {
  const toggle = (id: number) => choose(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id])
  return (
    <fieldset>
      <legend>Accounts</legend>
      {accounts?.length === 0 && (
        <p class="empty">
          None is connected: connect one in the <a href="/dashboard/settings">settings</a>.
        </p>
      )}
      {accounts?.map(({ id, platform, handle, status }) => (
        <label key={id} class="choice">
          <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} />
          <bdi>{handle}</bdi>{' '}
          <span class="label">
            {platform}
            {status === 'connected' ? '' : `, ${status}`}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** Typed text stays as it is, with its commas: blanks and repeats are the API's matter. */
function tagsOf(text: string): string[] {
  return text === '' ? [] : text.split(',')
}
