/** The draft that the editor of a post holds, with its uploads, and whether all of it is saved. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { localMoment } from '../parts/format.ts'
import { useUnsaved } from '../shell/unsaved.ts'
import { useAltTexts } from './about-file.tsx'
import { type Account, type Draft, draftOf, fresh, type Post } from './post-draft.ts'
import { useSaving } from './post-saving.ts'

interface DraftOf {
  /** As the page has it; undefined where a post is made. */
  readonly post: Post | undefined
  /** When a new one is to go out: local to the timezone. */
  readonly at: string | undefined
  readonly timezone: string
  readonly accounts: readonly Account[] | undefined
}

export type PostDraft = ReturnType<typeof usePostDraft>

export function usePostDraft({ post: given, at, timezone, accounts }: DraftOf) {
  /** A later version than the page's own was loaded. */
  const [loaded, setLoaded] = useState<Post>()
  const post = loaded && given && loaded.updated_at > given.updated_at ? loaded : given
  const [draft, setDraft] = useState<Draft>(() =>
    post ? draftOf(post, timezone) : { ...fresh, scheduled_at: at ?? null },
  )
  const begun = useRef(draft)
  const newest = useRef(draft)
  newest.current = draft
  const saving = useSaving({ post, timezone, accounts }, draft)
  const { saved } = saving
  const [uploads, setUploads] = useState(0)
  /** Keys of the parts whose chosen file isn't added yet; the caption's is 0. */
  const [held, setHeld] = useState<readonly number[]>([])
  const altTexts = useAltTexts([...draft.media_ids, ...draft.thread.flatMap(({ media_ids }) => media_ids)])
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved.current?.draft ?? begun.current)
  const isUnsaved = isChanged || held.length > 0 || uploads > 0 || altTexts.areUnsaved
  // The form of a new post stays while the page shows other posts.
  const mayClose = useUnsaved(isUnsaved, { keptAt: post === undefined ? '/dashboard/posts' : undefined })

  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  // Another day was chosen in the calendar: what was written stays.
  useEffect(() => {
    if (at !== undefined) change({ scheduled_at: at })
  }, [at])
  // As the form left the post, or as the page has read it since.
  const isSavedLast = saved.current && !(post && post.updated_at > saved.current.updated_at)
  // One that nobody changed stays the moment that it is.
  const isSameTime = post?.scheduled_at && draft.scheduled_at === localMoment(post.scheduled_at, timezone)

  return {
    post,
    draft,
    newest,
    saving,
    altTexts,
    uploads,
    hasHeldFiles: held.length > 0,
    isScheduled: (isSavedLast ? saved.current : post)?.status === 'scheduled',
    scheduledAt: isSameTime ? post.scheduled_at : draft.scheduled_at,
    setDraft,
    change,
    mayClose,

    chooseParts: (choice: (before: Draft['thread']) => Draft['thread']) =>
      setDraft((before) => ({ ...before, thread: choice(before.thread) })),

    /** Props of the files of a part, by its key. */
    filesOf: (key: number) => ({
      altTexts,
      underWay: (more: 1 | -1) => setUploads((before) => before + more),
      held: (isHeld: boolean) =>
        setHeld((before) => [...before.filter((one) => one !== key), ...(isHeld ? [key] : [])]),
    }),

    /** From now on the draft is about the version of somebody else. */
    takeIn: (theirs: Post, isMineKept: boolean) => {
      const taken = saving.takeIn(theirs, draft)
      setDraft(isMineKept ? taken.both : taken.theirs)
      setLoaded(theirs)
    },
  }
}
