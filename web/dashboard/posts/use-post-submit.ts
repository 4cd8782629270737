/** Buttons of a post's editor: each saves the draft, then does what it says, or shows why that can't be done. */
import { useState } from 'preact/hooks'
import { tellLateRefusal } from '../parts/late-refusal.tsx'
import { useIsOpen } from '../parts/use-is-open.ts'
import type { RefusedWrite, Sent } from '../requests/query.ts'
import type { Changed } from './post-changed.tsx'
import { withTracked } from './post-draft.ts'
import { soon } from './post-move.ts'
import type { After, Made } from './post-saving.ts'
import { splitField } from './track-button.tsx'
import { type Network, trackLinks } from './track-links.ts'
import type { PostDraft } from './use-post-draft.ts'

interface SubmitOf {
  readonly editing: PostDraft
  readonly networks: readonly Network[]
  done(made: Made): void
}

export function usePostSubmit({ editing, networks, done }: SubmitOf) {
  const { draft, newest, saving, altTexts, isScheduled, scheduledAt } = editing
  const [refusal, refuse] = useState('')
  const [changed, setChanged] = useState<Changed>()
  const [isSending, setSending] = useState(false)
  const isOpen = useIsOpen()

  /** The form stays with what was written while the answer was awaited: that isn't saved. */
  function finish(made: Made): void {
    if (newest.current === draft) done(made)
    else refuse('Done, but what you wrote since then isn’t saved yet.')
  }

  /** A link names its post, so a new one is saved first; then the captions with their links are. */
  async function track(isSplit: boolean): Promise<Sent<Made>> {
    const sent = await saving.write(draft)
    if ('refusal' in sent) return sent
    const tracked = await trackLinks(draft, { id: sent.made.id, title: draft.title, networks, isSplit })
    // Text that is typed meanwhile stays as it is typed.
    editing.setDraft((now) => withTracked(now, draft, tracked.draft))
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
    return pressed === 'schedule' && scheduledAt ? { scheduled_at: scheduledAt } : undefined
  }

  /** @returns what was saved after all, or why not. The refusal is empty where somebody else's version is shown. */
  async function meet(refused: RefusedWrite, pressed: string | undefined): Promise<Sent<Made>> {
    const theirs = await saving.readChanged(refused)
    if (theirs === undefined || !isOpen.current) return refused
    if (pressed === 'save' && saving.isApartFrom(theirs, draft)) return saving.saveBeside(theirs, draft)
    setChanged({ refusal: refused.refusal, theirs })
    return { refusal: '' }
  }

  return {
    refusal,
    refuse,
    /** Somebody else's version, where it stands in the way. */
    changed,
    isBusy: isSending || editing.uploads > 0,

    submit: async (event: SubmitEvent) => {
      event.preventDefault()
      const pressed = (event.submitter as HTMLButtonElement | null)?.value
      const isSplit = new FormData(event.currentTarget as HTMLFormElement).has(splitField)
      if (editing.hasHeldFiles) return refuse('Add the chosen file first, or leave it out.')
      if (pressed === 'schedule' && !scheduledAt) return refuse('Choose the time first.')
      setSending(true)
      setChanged(undefined)
      // The click that left a text's field sent it: then this waits for the same answer.
      const unsaved = await altTexts.save()
      const first = unsaved ? { refusal: unsaved } : await (pressed === 'track' ? track(isSplit) : save(pressed))
      const sent = 'refusal' in first && isOpen.current ? await meet(first, pressed) : first
      const refused = 'refusal' in sent ? textOf(sent) : ''
      // It was closed meanwhile: another form may be open in its place.
      if (!isOpen.current) return tellLateRefusal('Post', refused)
      setSending(false)
      refuse(refused)
      if ('made' in sent && pressed !== 'track') finish(sent.made)
    },

    takeIn: ({ theirs }: Changed, isMineKept: boolean) => {
      editing.takeIn(theirs, isMineKept)
      setChanged(undefined)
    },
  }
}

function textOf({ refusal, kept }: RefusedWrite): string {
  return kept ? `${kept}: ${refusal}` : refusal
}
