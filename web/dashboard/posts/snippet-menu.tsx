/** A menu of the workspace's snippets, by mouse or keys: the chosen one is put where the cursor was. */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Snippet } from '../../../schemas/resources/snippet.ts'
import { useAnswer } from '../requests/query.ts'

interface SnippetMenuProps {
  insert(text: string): void
  /** Opens the list where they are written. */
  manage(): void
}

/** Others write few. */
const againMs = 60_000

export function SnippetMenu({ insert, manage }: SnippetMenuProps) {
  const { answer: snippets = [] } = useAnswer<readonly Snippet[]>('/snippets', { againMs })
  /** The item with the focus; undefined: the menu is closed. */
  const [at, setAt] = useState<number>()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const id = useId()
  const isOpen = at !== undefined
  const last = snippets.length
  useLayoutEffect(() => {
    if (at !== undefined) (menu.current?.children[at] as HTMLElement | undefined)?.focus()
  }, [at])

  /** @returns the item that a key goes to; undefined where it is no key of the menu */
  function itemBy(key: string): number | undefined {
    if (key === 'ArrowDown') return at === last ? 0 : at! + 1
    if (key === 'ArrowUp') return at === 0 ? last : at! - 1
    if (key === 'Home') return 0
    if (key === 'End') return last
    if (key.length !== 1 || key === ' ') return undefined
    const begins = snippets.map(({ name }) => name.toLowerCase().startsWith(key.toLowerCase()))
    const next = begins.indexOf(true, at! + 1)
    return next === -1 ? (begins.includes(true) ? begins.indexOf(true) : at) : next
  }

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const to = itemBy(event.key)
    if (to !== undefined) setAt(to)
    else if (event.key === 'Escape') {
      setAt(undefined)
      button.current?.focus()
    } else return
    event.preventDefault()
    // Single keys are shortcuts of the page, and Escape closes a dialog.
    event.stopPropagation()
  }

  const choose = (act: () => void) => () => {
    setAt(undefined)
    // The item goes: whatever opens now gives the focus back to the button.
    button.current?.focus()
    act()
  }
  const item = (place: number) => ({ role: 'menuitem' as const, tabIndex: place === at ? 0 : -1 })
  return (
    <div class="snippets">
      <button
        type="button"
        ref={button}
        // Safari focuses a clicked button only with `tabIndex`. Otherwise the menu would close and reopen.
        tabIndex={0}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        title="Goes where the cursor was: into the caption, or another text of the post"
        onClick={() => setAt(isOpen ? undefined : 0)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          setAt(0)
        }}
      >
        Insert a saved text
      </button>
      {isOpen && (
        <div
          role="menu"
          id={id}
          ref={menu}
          aria-label="Saved texts"
          onKeyDown={onKey}
          onFocusOut={({ relatedTarget }) => {
            const isWithin = relatedTarget instanceof Node && menu.current?.contains(relatedTarget)
            // The button closes it by itself.
            if (!isWithin && relatedTarget !== button.current) setAt(undefined)
          }}
        >
          {snippets.map(({ id: key, name, text }, place) => (
            <button key={key} type="button" class="row" {...item(place)} onClick={choose(() => insert(text))}>
              <span class="name">
                <bdi>{name}</bdi>
              </span>
              <span class="name label">
                <bdi>{text}</bdi>
              </span>
            </button>
          ))}
          <button type="button" class="row" {...item(last)} onClick={choose(manage)}>
            {last === 0 ? 'Save a first text …' : 'Add or change saved texts …'}
          </button>
        </div>
      )}
    </div>
  )
}

/**
 * Puts a text in place of the field's selection. The field is told as if it was typed, so that Undo takes it back.
 *
 * @param field not read-only
 */
export function typeInto(field: HTMLTextAreaElement, text: string): void {
  field.focus()
  if (document.execCommand('insertText', false, text)) return
  field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end')
  field.dispatchEvent(new Event('input', { bubbles: true }))
}
