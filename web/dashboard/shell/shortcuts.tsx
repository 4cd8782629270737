/** Single keys: the ranges by their letter, and whatever else docs/dashboard.md lists. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { todayIn } from '../requests/request.ts'
import { type Comparison, type RangeKey, ranges, readView, shifted, type View, withoutFilter } from '../view/address.ts'
import { keyName } from './key-name.ts'
import { isShared } from './shared-page.ts'
import { areSingleKeysOn, setSingleKeys } from './single-keys.ts'

const keyMeanings = [
  ['D W M Q Y', 'today, the last 7, 30, 90, 365 days'],
  ['E', 'yesterday'],
  ['C', 'choose days'],
  ['← →', 'previous range, next range'],
  ['X', 'comparison on or off'],
  ['F', 'add a filter'],
  ['/', 'search'],
  ['Esc', 'remove the last filter'],
  isShared
    ? ['G, then O V F E', 'go to overview, events, funnels, retention']
    : [
        'G, then O V F E P R S L C T W',
        'go to overview, events, funnels, retention, people, replays, posts, links, company, settings, all workspaces',
      ],
  ['?', 'this list'],
] as const

export function KeysDialog({ close }: { close(): void }) {
  const [areOn, setOn] = useState(areSingleKeysOn)
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <dl class="keys">
        {keyMeanings.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <label class="choice">
        <input
          type="checkbox"
          checked={areOn}
          onChange={({ currentTarget: { checked } }) => {
            setSingleKeys(checked)
            setOn(checked)
          }}
        />{' '}
        Single keys act in this browser
      </label>
    </Dialog>
  )
}

/** Calls for each key that is meant for the page. */
export function usePageKeys(press: (key: string, event: KeyboardEvent) => void): void {
  // Before anything of the page is seen: a quick key is heard, too.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isForPage(event)) press(keyName(event), event)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

/** Whether a key isn't meant for a field, a dialog or the browser. */
export function isForPage({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  const isTyped = target instanceof Element && target.closest('input, select, textarea, dialog') !== null
  const isFree = !isTyped && document.querySelector('dialog[open]') === null
  return areSingleKeysOn() && !ctrlKey && !metaKey && !altKey && isFree
}

interface OverviewKeys {
  readonly timezone: string
  go(view: View): void
  openFilter(): void
  openCalendar(): void
}

export function useOverviewKeys({ timezone, go, openFilter, openCalendar }: OverviewKeys): void {
  const lastComparison = useRef<Comparison>('previous')
  usePageKeys((key, event) => {
    // Reads the address: the drawn view may be a key behind.
    const view = readView(location.search)
    const today = todayIn(timezone)
    if (Object.hasOwn(ranges, key)) go({ ...view, days: null, range: key as RangeKey })
    else if (key === 'e') go(shifted({ ...view, days: null, range: 'd' }, today, -1))
    else if (key === 'arrowleft' || key === 'arrowright') {
      if (!isScrolledSideways(event.target)) go(shifted(view, today, key === 'arrowleft' ? -1 : 1))
    } else if (key === 'x') {
      const isOn = view.compare !== 'none'
      if (isOn) lastComparison.current = view.compare
      go({ ...view, compare: isOn ? 'none' : lastComparison.current })
    } else if (key === 'escape' && view.filters.length > 0) go(withoutFilter(view, view.filters.length - 1))
    else if (key === 'c' || key === 'f') {
      // The key itself isn't typed into what opens.
      event.preventDefault()
      if (key === 'c') openCalendar()
      else openFilter()
    }
  })
}

/** A table that is wider than its place is scrolled by the same keys. */
function isScrolledSideways(target: EventTarget | null): boolean {
  const place = target instanceof Element ? target.closest('.scrolled') : null
  return place !== null && place.scrollWidth > place.clientWidth
}

/** Alt and Enter are a click with Alt, which browsers make of Enter alone: it leaves a row's value out. */
export function clickByAltEnter(): void {
  addEventListener('keydown', (event) => {
    const { key, altKey, target } = event
    if (key !== 'Enter' || !altKey || !(target instanceof Element) || !target.matches('button, .world a')) return
    event.preventDefault()
    target.dispatchEvent(new MouseEvent('click', { altKey, bubbles: true, cancelable: true }))
  })
}

/** The key itself isn't typed into it. */
export function focusOn(selector: string, event: KeyboardEvent): void {
  const field = document.querySelector<HTMLElement>(selector)
  if (field === null) return
  event.preventDefault()
  field.focus()
}
