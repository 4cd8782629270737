/**
 * Drags a thing to a day by finger. It is held for a moment first: a finger that moves at once scrolls the page. By
 * pointer events; while something is held the page's own scrolling waits, and goes on by itself near the edges.
 */
import { useEffect, useRef } from 'preact/hooks'

interface DragOf<Thing> {
  hold(thing: Thing): void
  over(day: string | undefined): void
  /** @param day undefined where the finger was on none */
  drop(thing: Thing, day: string | undefined): void
}

const holdMs = 350
const slackPx = 10
const edgePx = 64
const scrollPx = 8
const frameMs = 16

/** @returns what a pointer that goes down on a thing is given to */
export function useTouchDrag<Thing>(drag: DragOf<Thing>) {
  const newest = useRef(drag)
  newest.current = drag
  const end = useRef<(() => void) | undefined>(undefined)
  useEffect(() => () => end.current?.(), [])

  return function press(thing: Thing, { pointerType, pointerId, clientX, clientY }: PointerEvent): void {
    if (pointerType === 'mouse') return
    end.current?.()
    const listening = new AbortController()
    const { signal } = listening
    let at = { x: clientX, y: clientY }
    let isHeld = false
    /** The days may move under a resting finger, when the text above them changes. */
    let hasMoved = false
    let scrolling: ReturnType<typeof setInterval> | undefined
    const waiting = setTimeout(() => {
      isHeld = true
      newest.current.hold(thing)
      scrolling = setInterval(scrollNearEdges, frameMs)
    }, holdMs)
    end.current = () => {
      listening.abort()
      clearTimeout(waiting)
      clearInterval(scrolling)
    }

    function scrollNearEdges(): void {
      const by = at.y < edgePx ? -scrollPx : at.y > innerHeight - edgePx ? scrollPx : 0
      if (by === 0) return
      hasMoved = true
      scrollBy(0, by)
      newest.current.over(dayAt(at))
    }

    function move(event: PointerEvent): void {
      if (event.pointerId !== pointerId) return
      const isFar = Math.hypot(event.clientX - clientX, event.clientY - clientY) > slackPx
      at = { x: event.clientX, y: event.clientY }
      if (isHeld) {
        hasMoved ||= isFar
        if (hasMoved) newest.current.over(dayAt(at))
      } else if (isFar) end.current?.()
    }

    function leave(event: PointerEvent): void {
      if (event.pointerId !== pointerId) return
      end.current?.()
      if (isHeld) newest.current.drop(thing, event.type === 'pointerup' && hasMoved ? dayAt(at) : undefined)
    }

    /** Neither scrolls the page, nor opens a menu, nor counts as a click. */
    const keepStill = (event: Event) => isHeld && event.preventDefault()

    addEventListener('pointermove', move, { signal })
    addEventListener('pointerup', leave, { signal })
    addEventListener('pointercancel', leave, { signal })
    addEventListener('touchmove', keepStill, { signal, passive: false })
    addEventListener('contextmenu', keepStill, { signal })
    // `touchend` comes after `pointerup`. If the browser takes over the gesture, `touchcancel` comes instead. A pen may send neither.
    const lifted = new AbortController()
    const lift = (event: Event) => {
      if (event.type === 'touchend') keepStill(event)
      lifted.abort()
    }
    for (const end of ['touchend', 'touchcancel'])
      addEventListener(end, lift, { signal: lifted.signal, passive: false })
    addEventListener('pointerdown', lift, { signal: lifted.signal, capture: true })
  }
}

function dayAt({ x, y }: { readonly x: number; readonly y: number }): string | undefined {
  return document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-day]')?.dataset['day']
}
