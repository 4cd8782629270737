/** The editor of a post: text, accounts, media and time, with what each network would show and what stands in the way. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { localMoment } from './format.ts'
import { may } from './may.ts'
import type { Workspace } from './overview-data.ts'
import { Refusal } from './parts.tsx'
import { Accounts } from './post-accounts.tsx'
import { type Changed, ChangedMeanwhile } from './post-changed.tsx'
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
import { type After, type Made, useSaving } from './post-saving.ts'
import { ThreadParts } from './post-thread.tsx'
import { type Queue, QueueButton } from './posting-times.tsx'
import { type RefusedWrite, type Sent, useAnswer } from './query.ts'
import { SavedTexts } from './saved-texts.tsx'
import { SnippetMenu, typeInto } from './snippet-menu.tsx'
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
  /** @param made the post as it is by now; undefined: nothing was saved */
  done(made?: Made): void
}

export function PostForm({ post: given, at, workspace, queue, done }: PostFormProps) {
  const { timezone } = workspace
  /** A later version than the page's own was loaded. */
  const [loaded, setLoaded] = useState<Post>()
  const post = loaded && given && loaded.updated_at > given.updated_at ? loaded : given
  const [draft, setDraft] = useState<Draft>(() =>
    post ? draftOf(post, timezone) : { ...fresh, scheduled_at: at ?? null },
  )
  const { answer: accounts } = useAnswer<Account[]>('/social-accounts')
  const saving = useSaving({ post, timezone, accounts }, draft)
  const newest = useRef(draft)
  newest.current = draft
  const [refusal, setRefusal] = useState('')
  /** The form stays with what was written while the answer was awaited: that isn't saved. */
  const finish = (made: Made) => {
    if (newest.current === draft) done(made)
    else setRefusal('Done, but what you wrote since then isn’t saved yet.')
  }
  const { saved } = saving
  const [changed, setChanged] = useState<Changed>()
  const [isSending, setSending] = useState(false)
  const [uploads, setUploads] = useState(0)
  const [isManaging, setManaging] = useState(false)
  const captionField = useRef<HTMLTextAreaElement>(null)
  /** The text that had the focus last. */
  const lastText = useRef<HTMLTextAreaElement | null>(null)
  /** Keys of the parts whose chosen file isn't added yet; the caption's is 0. */
  const [held, setHeld] = useState<readonly number[]>([])
  const begun = useRef(draft)
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved.current?.draft ?? begun.current)
  const altTexts = useAltTexts([...draft.media_ids, ...draft.thread.flatMap(({ media_ids }) => media_ids)])
  const isUnsaved = isChanged || held.length > 0 || uploads > 0 || altTexts.areUnsaved
  // The form of a new post stays while the page shows other posts.
  useUnsaved(isUnsaved, { keptAt: post === undefined ? '/dashboard/posts' : undefined })
  const chosen = asSent(draft, accounts)
  const { preview, refusal: previewRefusal } = usePreview(chosen, altTexts.saves)
  // One that nobody changed stays the moment that it is.
  const isSameTime = post?.scheduled_at && draft.scheduled_at === localMoment(post.scheduled_at, timezone)
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
  // As the form left the post, or as the page has read it since.
  const isSavedLast = saved.current && !(post && post.updated_at > saved.current.updated_at)
  const isScheduled = (isSavedLast ? saved.current : post)?.status === 'scheduled'
  const mayPublish = may('posts:publish')
  const isBusy = isSending || uploads > 0
  const heading = saved.current ? 'Change the post' : 'New post'
  // The refusal names the field, too.
  const isSaid = (text: string) => refusal.includes(text)

  /** A link names its post, so a new one is saved first; then the captions with their links are. */
  async function track(isSplit: boolean): Promise<Sent<Made>> {
    const sent = await saving.write(draft)
    if ('refusal' in sent) return sent
    const tracked = await trackLinks(draft, { id: sent.made.id, title: draft.title, networks, isSplit })
    // Text that is typed meanwhile stays as it is typed.
    setDraft((now) => withTracked(now, draft, tracked.draft))
    return tracked.refusal === '' ? saving.write(tracked.draft) : { refusal: tracked.refusal }
  }

  /** A post that was made stays made when its schedule is refused: the next try changes it. */
  async function save(pressed: string | undefined): Promise<Sent<Made>> {
    const sent = await saving.write(draft)
    if ('refusal' in sent) return sent
    const then = stepAfter(pressed)
    return then === undefined ? sent : saving.follow(sent.made, then, { isScheduled })
  }

  /** Undefined: it is only saved. */
  function stepAfter(pressed: string | undefined): After | undefined {
    if (pressed === 'queue' || pressed === 'submit') return pressed
    if (pressed === 'now') return { scheduled_at: soon(), isNow: true }
    return pressed === 'schedule' && scheduled_at ? { scheduled_at } : undefined
  }

  /** @returns why nothing more is done; '' where it is done, or somebody else's version is shown */
  async function meet(refused: RefusedWrite, pressed: string | undefined): Promise<string> {
    const theirs = await saving.readChanged(refused)
    if (theirs === undefined) return refused.kept ? `${refused.kept}: ${refused.refusal}` : refused.refusal
    if (pressed === 'save' && saving.isApartFrom(theirs, draft)) {
      const beside = await saving.saveBeside(theirs, draft)
      if ('refusal' in beside) return beside.refusal
      finish(beside.made)
      return ''
    }
    setChanged({ refusal: refused.refusal, theirs })
    return ''
  }

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    const pressed = (event.submitter as HTMLButtonElement | null)?.value
    const isSplit = new FormData(event.currentTarget as HTMLFormElement).has(splitField)
    if (held.length > 0) return setRefusal('Add the chosen file first, or choose none.')
    if (pressed === 'schedule' && !scheduled_at) return setRefusal('Choose the time first.')
    setSending(true)
    setChanged(undefined)
    // The click that left a text's field sent it: then this waits for the same answer.
    const unsaved = await altTexts.save()
    const sent = unsaved ? { refusal: unsaved } : await (pressed === 'track' ? track(isSplit) : save(pressed))
    const refused = 'refusal' in sent ? await meet(sent, pressed) : ''
    setSending(false)
    setRefusal(refused)
    if ('made' in sent && pressed !== 'track') finish(sent.made)
  }

  /** From now on the form is about the version of somebody else. */
  function takeIn({ theirs }: Changed, isMineKept: boolean): void {
    const taken = saving.takeIn(theirs, draft)
    setDraft(isMineKept ? taken.both : taken.theirs)
    setLoaded(theirs)
    setChanged(undefined)
  }

  function insert(text: string): void {
    const field = lastText.current
    typeInto(field?.isConnected && !field.readOnly ? field : captionField.current!, text)
  }

  return (
    <>
      <form
        class="panel editor"
        aria-label={heading}
        onSubmit={submit}
        onFocusIn={({ target }) => {
          if (target instanceof HTMLTextAreaElement) lastText.current = target
        }}
      >
        <h2>{heading}</h2>
        <label>
          {showsTitle ? 'Title (YouTube and Pinterest show it)' : 'Title (only you see it)'}
          <input required value={draft.title} onInput={(event) => change({ title: event.currentTarget.value })} />
        </label>
        <label>
          Caption
          <textarea
            required
            ref={captionField}
            rows={5}
            value={draft.base_caption}
            onInput={(event) => change({ base_caption: event.currentTarget.value })}
          />
        </label>
        <SnippetMenu insert={insert} manage={() => setManaging(true)} />
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
          <input
            value={draft.tags.join(',')}
            onInput={(event) => change({ tags: tagsOf(event.currentTarget.value) })}
          />
        </label>
        <label>
          Time, in {timezone}
          <input
            type="datetime-local"
            value={draft.scheduled_at ?? ''}
            onInput={(event) => change({ scheduled_at: event.currentTarget.value || null })}
          />
        </label>
        {preview && <PreviewOf {...{ preview, isSaid, draft, change }} />}
        {!isSaid(previewRefusal) && <Refusal text={previewRefusal} />}
        <Refusal text={refusal} />
        {changed && (
          <ChangedMeanwhile
            {...{ ...changed, timezone, mine: draft, base: saved.current!.draft }}
            load={() => takeIn(changed, false)}
            keep={() => takeIn(changed, true)}
          />
        )}
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
              <QueueButton {...{ queue, timezone }} type="submit" value="queue" disabled={isBusy} />
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
      {isManaging && <SavedTexts close={() => setManaging(false)} />}
    </>
  )
}

/** Typed text stays as it is, with its commas: blanks and repeats are the API's matter. */
function tagsOf(text: string): string[] {
  return text === '' ? [] : text.split(',')
}
