/**
 * Saves what the editor holds: as changes of the version of the post that was read, then by a schedule, the queue or a
 * request for approval. A version that isn't the post's any more is refused, and met in the editor (post-changed.tsx).
 */
import { useRef } from 'preact/hooks'
import { changesOf } from '../parts/changes-of.ts'
import { fetchOnce, type RefusedWrite, type Sent, send } from '../requests/query.ts'
import { type Account, asSent, type Draft, draftOf, type Post, type SentDraft } from './post-draft.ts'
import { stepsFromFailed, takeSteps } from './post-steps.ts'

/** The post as it is known to be saved. */
interface Version {
  readonly id: number
  readonly updated_at: string
  readonly status: Post['status']
  readonly draft: Draft
}

/** A post as a write left it. */
export type Made = Pick<Post, 'id' | 'updated_at' | 'status'>

const versionOf = ({ id, updated_at, status }: Made, draft: Draft): Version => ({ id, updated_at, status, draft })

interface SavingOf {
  /** Undefined: the first save makes one. */
  readonly post: Post | undefined
  readonly timezone: string
  readonly accounts: readonly Account[] | undefined
}

/** The step that follows a save. */
export type After = 'submit' | 'queue' | { readonly scheduled_at: string; readonly isNow?: true }

/** The post may not be as it was read; the role may allow less of it by now. */
const changedStatuses = [403, 409]

export function useSaving({ post, timezone, accounts }: SavingOf, draft: Draft) {
  const saved = useRef(post && versionOf(post, draft))
  /** They make a draft of a post that failed; those that are done are left out. */
  const stepsAhead = useRef(post?.status === 'failed' ? stepsFromFailed() : [])

  /** A post that failed can't be changed. @returns the refusal, where it can't be made one that can be */
  async function makeEditable(): Promise<RefusedWrite | undefined> {
    const [step] = stepsAhead.current
    if (step === undefined) return undefined
    const sent = await takeSteps(saved.current!, [step])
    if ('refusal' in sent) return sent
    stepsAhead.current = stepsAhead.current.slice(1)
    saved.current = versionOf(sent.made, saved.current!.draft)
    return makeEditable()
  }

  /** A time that nobody changed isn't sent: a local time may be twice in a night. */
  async function write(next: Draft): Promise<Sent<Made>> {
    const whole = asSent(next, accounts)
    const known = saved.current
    const changes = known && changesOf(whole, asSent(known.draft, accounts))
    if (known && Object.keys(changes!).length === 0) return { made: known }
    const refused = known && (await makeEditable())
    if (refused) return refused
    const sent = known
      ? await send<Post>('PATCH', `/posts/${known.id}`, { ...changes, updated_at: saved.current!.updated_at })
      : await send<Post>('POST', '/posts', whole)
    if ('made' in sent) saved.current = versionOf(sent.made, next)
    return sent
  }

  /** After a save: what is scheduled, or is to be approved, is the version that was just saved. */
  async function follow({ id, updated_at }: Made, then: After, { isScheduled }: { isScheduled: boolean }) {
    const isTimed = typeof then !== 'string'
    const path = isTimed ? (isScheduled ? 'reschedule' : 'schedule') : then
    const times = isTimed ? { scheduled_at: then.scheduled_at } : undefined
    const sent = await send<Post>('POST', `/posts/${id}/${path}`, { ...times, updated_at })
    if (!('refusal' in sent)) {
      saved.current = versionOf(sent.made, saved.current!.draft)
      return sent
    }
    const kept = isScheduled ? 'Saved' : 'Saved as a draft'
    if (then === 'submit') return { ...sent, kept: `${kept}, but without asking for approval` }
    return { ...sent, kept: `${kept}, but not ${isTimed && then.isNow ? 'published' : 'scheduled'}` }
  }

  /** @returns the post as it is by now, where a refusal is about another version than the one that was read */
  async function readChanged({ status }: RefusedWrite): Promise<Post | undefined> {
    const known = saved.current
    if (status === undefined || !changedStatuses.includes(status) || known === undefined) return undefined
    const sent = await fetchOnce<Post>(`/posts/${known.id}`)
    return 'made' in sent && sent.made.updated_at !== known.updated_at ? sent.made : undefined
  }

  /** Whether a save would leave all that others changed. A draft’s text would go out with a post that was scheduled. */
  function isApartFrom(theirs: Post, mine: Draft): boolean {
    if (theirs.status !== saved.current!.status) return false
    const base = asSent(saved.current!.draft, accounts)
    const changed = changesOf(asSent(draftOf(theirs, timezone), accounts), base)
    return !Object.keys(changesOf(asSent(mine, accounts), base)).some((name) => Object.hasOwn(changed, name))
  }

  /** Saves once more, as changes of `theirs`. Where that is refused, `theirs` doesn't count as read. */
  async function saveBeside(theirs: Post, next: Draft): Promise<Sent<Made>> {
    const before = saved.current!
    saved.current = { ...before, updated_at: theirs.updated_at }
    const sent = await write(next)
    if ('refusal' in sent) saved.current = before
    return sent
  }

  /** From now on changes are those of `theirs`. @returns it as a draft, and with `mine` in place of what both changed */
  function takeIn(theirs: Post, mine: Draft): { readonly theirs: Draft; readonly both: Draft } {
    const base = saved.current!.draft
    const known = draftOf(theirs, timezone)
    saved.current = versionOf(theirs, known)
    stepsAhead.current = theirs.status === 'failed' ? stepsFromFailed() : []
    const own = changesOf(asSent(mine, undefined), asSent(base, undefined)) as Partial<SentDraft>
    const kept = Object.keys(own).map((name) => [name, mine[name as keyof Draft]])
    return { theirs: known, both: { ...known, ...(Object.fromEntries(kept) as Partial<Draft>) } }
  }

  return { saved, write, follow, readChanged, isApartFrom, saveBeside, takeIn }
}
