/** The editor of a post: text, accounts, media and time, with what each network would show and what stands in the way. */
import { useRef, useState } from 'preact/hooks'
import { Refusal } from '../parts/failure.tsx'
import type { Workspace } from '../requests/answers.ts'
import { useAnswer } from '../requests/query.ts'
import { Accounts } from './post-accounts.tsx'
import { PostButtons } from './post-buttons.tsx'
import { ChangedMeanwhile } from './post-changed.tsx'
import { FirstComment } from './post-comment.tsx'
import { type Account, asSent, type Post, textsPublished } from './post-draft.ts'
import { MediaFiles } from './post-media.tsx'
import { PreviewOf, usePreview } from './post-preview.tsx'
import type { Made } from './post-saving.ts'
import { ThreadParts } from './post-thread.tsx'
import type { Queue } from './posting-times.tsx'
import { SavedTexts } from './saved-texts.tsx'
import { SnippetMenu, typeInto } from './snippet-menu.tsx'
import { networksOf } from './track-links.ts'
import { usePostDraft } from './use-post-draft.ts'
import { usePostSubmit } from './use-post-submit.ts'

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
  const { answer: accounts } = useAnswer<Account[]>('/social-accounts')
  const editing = usePostDraft({ post: given, at, timezone, accounts })
  const { post, draft, change, chooseParts, filesOf } = editing
  const networks = networksOf(accounts?.filter(({ id }) => draft.social_account_ids.includes(id)) ?? [])
  const { refusal, refuse, changed, isBusy, submit, takeIn } = usePostSubmit({ editing, networks, done })
  const { saved } = editing.saving
  const { preview, refusal: previewRefusal } = usePreview(asSent(draft, accounts), editing.altTexts.saves)
  const [isManaging, setManaging] = useState(false)
  const captionField = useRef<HTMLTextAreaElement>(null)
  /** The text that had the focus last. */
  const lastText = useRef<HTMLTextAreaElement | null>(null)
  const platforms = networks.map(({ platform }) => platform)
  const showsTitle = platforms.some((platform) => ['youtube', 'pinterest'].includes(platform))
  const heading = saved.current ? 'Change the post' : 'New post'
  // The refusal names the field, too.
  const isSaid = (text: string) => refusal.includes(text)

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
              of={of}
              isFixed={isFixed}
              ids={part.media_ids}
              platforms={platforms}
              {...filesOf(part.key)}
              refuse={refuse}
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
        <FirstComment text={draft.first_comment} platforms={platforms} change={change} />
        <MediaFiles
          ids={draft.media_ids}
          platforms={platforms}
          {...filesOf(0)}
          refuse={refuse}
          choose={(choice) => editing.setDraft((before) => ({ ...before, media_ids: choice(before.media_ids) }))}
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
        {preview && <PreviewOf preview={preview} isSaid={isSaid} draft={draft} change={change} />}
        {!isSaid(previewRefusal) && <Refusal text={previewRefusal} />}
        <Refusal text={refusal} />
        {changed && (
          <ChangedMeanwhile
            {...changed}
            timezone={timezone}
            mine={draft}
            base={saved.current!.draft}
            load={() => takeIn(changed, false)}
            keep={() => takeIn(changed, true)}
          />
        )}
        <PostButtons
          isScheduled={editing.isScheduled}
          isBusy={isBusy}
          queue={queue}
          timezone={timezone}
          networks={networks}
          close={() => editing.mayClose() && done()}
        />
      </form>
      {isManaging && <SavedTexts close={() => setManaging(false)} />}
    </>
  )
}

/** Typed text stays as it is, with its commas: blanks and repeats are the API's matter. */
function tagsOf(text: string): string[] {
  return text === '' ? [] : text.split(',')
}
