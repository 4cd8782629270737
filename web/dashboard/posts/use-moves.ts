/** Posts on their way to another day: held by mouse, finger or keyboard, shown where they go, and taken back when the API refuses. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { dayByKey, dayInWords } from '../parts/calendar-days.ts'
import { localMoment, timeOfDay } from '../parts/format.ts'
import { tellLateRefusal } from '../parts/late-refusal.tsx'
import { useIsOpen } from '../parts/use-is-open.ts'
import type { Sent } from '../requests/query.ts'
import { momentIn } from '../requests/request.ts'
import { may } from '../shell/may.ts'
import type { Post } from './post-draft.ts'
import { isMovable, moveTo } from './post-move.ts'
import { type Step, stepsToDraft, takeSteps } from './post-steps.ts'
import { useTouchDrag } from './touch-drag.ts'

interface MovesOf {
  readonly posts: readonly Post[] | undefined
  readonly timezone: string
  localTime(post: Post): string | null
  isShown(day: string): boolean
  go(day: string): void
}

interface Said {
  readonly message: string
  readonly refusal: string
  readonly undo?: (() => void) | undefined
}
const nothing: Said = { message: '', refusal: '' }

export type Moves = ReturnType<typeof useMoves>

export function useMoves({ posts, timezone, localTime, isShown, go }: MovesOf) {
  const [dragged, setDragged] = useState<Post>()
  const [target, aim] = useState<string>()
  const [said, say] = useState(nothing)
  /** As the API will have them, or has them by now. */
  const [ahead, setAhead] = useState<ReadonlyMap<number, Post>>(new Map())
  /** The last change of each post that isn't answered: the next one of a quick hand waits for it. */
  const underWay = useRef(new Map<number, Promise<Sent<Post>>>())
  const newest = useRef<Promise<Sent<Post>>>(undefined)
  const toFocus = useRef<number | undefined>(undefined)
  const isThere = useIsOpen()
  const now = () => momentIn(timezone)
  const known = posts ?? []
  // One that goes to days that weren't asked for yet is shown there too.
  const others = [...ahead.values()].filter(({ id }) => !known.some((post) => post.id === id))
  const shown = [...known.map((post) => ahead.get(post.id) ?? post), ...others]

  useEffect(() => {
    setAhead((before) => new Map([...before].filter(([id]) => underWay.current.has(id))))
  }, [posts])
  // It stands in another day's list now, so it is another element.
  useLayoutEffect(() => {
    if (toFocus.current === undefined) return
    document.getElementById(`post-${toFocus.current}`)?.focus()
    if (dragged === undefined) toFocus.current = undefined
  })

  // While a post is dragged, every key is about it, wherever the focus went as the month changed. The next key of a
  // quick hand is, too.
  useLayoutEffect(() => {
    if (dragged === undefined || toFocus.current === undefined) return
    const onKey = (event: KeyboardEvent) => {
      const to = dayByKey(event.key, target!)
      if (to !== undefined) aimAt(to)
      else if (event.key === 'Enter' || event.key === ' ') void put(dragged, target!)
      else if (event.key === 'Escape' || event.key === 'Tab') letGo()
      else return
      if (event.key === 'Tab') return
      event.preventDefault()
      event.stopImmediatePropagation()
    }
    // Whoever presses something else goes on there: what is typed there moves no post.
    const leave = () => {
      toFocus.current = undefined
      letGo()
    }
    addEventListener('pointerdown', leave, { capture: true })
    addEventListener('keydown', onKey, { capture: true })
    return () => {
      removeEventListener('pointerdown', leave, { capture: true })
      removeEventListener('keydown', onKey, { capture: true })
    }
  })

  function aimAt(day: string): void {
    aim(day)
    const isOver = day < now().slice(0, 10)
    say({
      ...nothing,
      message: `${dayInWords(day)}${isOver ? ', which is over' : ''}. Enter puts it there, Escape leaves it.`,
    })
    if (!isShown(day)) go(day)
  }

  function letGo(): void {
    setDragged(undefined)
    aim(undefined)
    say((before) => (before.refusal === '' && before.undo === undefined ? nothing : before))
  }

  async function put(held: Post, day: string): Promise<void> {
    setDragged(undefined)
    aim(undefined)
    let post = held
    for (let earlier = underWay.current.get(post.id); earlier; earlier = underWay.current.get(post.id)) {
      const sent = await earlier
      if ('made' in sent) post = sent.made
    }
    const move = moveTo(day, { status: post.status, localTime: localTime(post) }, now())
    if (move === 'stays') return say(nothing)
    if ('refusal' in move) return say({ ...nothing, refusal: move.refusal })
    const { path, scheduled_at } = move
    // Local times have no offset: only its place on the calendar is right until the answer comes.
    const guess = { ...post, scheduled_at: momentLike(scheduled_at, timezone) }
    const undoOf = (moved: Post) => (post.status === 'failed' ? undefined : () => void takeBack(post, moved))
    const message = `It goes out on ${dayInWords(day)} at ${timeOfDay(scheduled_at.slice(11))}.`
    await change(post, guess, [['POST', `/${path}`, { scheduled_at }]], (moved) => ({
      ...nothing,
      message,
      undo: undoOf(moved),
    }))
  }

  async function takeBack(post: Post, moved: Post): Promise<void> {
    const { status, scheduled_at } = post
    const moveBack = ['POST', '/reschedule', { scheduled_at }] as const
    await change(moved, post, status === 'draft' ? stepsToDraft(post) : [moveBack], () => ({
      ...nothing,
      message: 'It is back where it was.',
    }))
  }

  /** A post that somebody changed meanwhile isn't moved unseen. */
  async function change(
    post: Post,
    guess: Post,
    steps: readonly [Step, ...Step[]],
    done: (made: Post) => Said,
  ): Promise<void> {
    setAhead((before) => new Map(before).set(post.id, guess))
    const sending = takeSteps(post, steps)
    underWay.current.set(post.id, sending)
    newest.current = sending
    const sent = await sending
    const isLast = underWay.current.get(post.id) === sending
    if (isLast) underWay.current.delete(post.id)
    if ('refusal' in sent) {
      if (isLast) setAhead((before) => new Map([...before].filter(([id]) => id !== post.id)))
      if (!isThere.current) return tellLateRefusal('Not moved', sent.refusal)
      return say({ ...nothing, refusal: sent.refusal })
    }
    if (isLast) setAhead((before) => new Map(before).set(post.id, sent.made))
    // A later move has said its own by now, or will.
    if (newest.current === sending) say(done(sent.made))
  }

  const press = useTouchDrag<Post>({
    hold: (post) => {
      toFocus.current = undefined
      say({ ...nothing, message: 'Move it to its day.' })
      setDragged(post)
    },
    over: aim,
    drop: (post, day) => (day === undefined ? letGo() : void put(post, day)),
  })

  return {
    shown,
    dragged,
    target,
    now,
    letGo,
    ...said,
    /** With a finger. */
    press(post: Post, event: PointerEvent): void {
      // The browser doesn't tell the end of a drag whose chip is gone, or that a second finger interrupted.
      if (event.pointerType === 'mouse' && dragged !== undefined) letGo()
      if (isDraggable(post)) press(post, event)
    },
    /** With the mouse. */
    drag(post: Post, event: DragEvent): void {
      // A finger holds it already: the browser's own dragging would end that.
      if (dragged !== undefined) return event.preventDefault()
      event.dataTransfer?.setData('text/plain', post.title)
      toFocus.current = undefined
      setDragged(post)
    },
    over(day: string, event: DragEvent): void {
      if (dragged === undefined) return
      if (day >= now().slice(0, 10)) event.preventDefault()
      if (target !== day) aim(day)
    },
    drop(day: string, event: DragEvent): void {
      event.preventDefault()
      if (dragged === undefined) return
      // Not before: without an older message the days would move up, under the pointer.
      say(nothing)
      void put(dragged, day)
    },
    /** With the keyboard. */
    pickUp(post: Post, event: KeyboardEvent): void {
      if (event.key !== ' ' || dragged !== undefined || !may('posts:publish')) return
      event.preventDefault()
      if (!isMovable(post.status))
        return say({ ...nothing, refusal: `A post that is ${post.status} stays where it is.` })
      toFocus.current = post.id
      setDragged(post)
      aimAt(localTime(post)?.slice(0, 10) ?? now().slice(0, 10))
    },
  }
}

/** A moment that is local to the timezone, but for hours that the clock skips. */
function momentLike(local: string, timezone: string): string {
  const asUtc = Date.parse(`${local}Z`)
  const shift = Date.parse(`${localMoment(new Date(asUtc).toISOString(), timezone)}Z`) - asUtc
  return new Date(asUtc - shift).toISOString()
}

/** Whether whoever is signed in may put the post on another day. */
export function isDraggable({ status }: Pick<Post, 'status'>): boolean {
  return may('posts:publish') && isMovable(status)
}
