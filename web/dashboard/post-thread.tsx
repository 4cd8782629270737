/** The texts that follow the caption of a post. */
import { useRef } from 'preact/hooks'

interface ThreadTextsProps {
  readonly texts: readonly string[]
  /** How many of them are published: these stay. */
  readonly published: number
  choose(texts: readonly string[]): void
}

/** The caption is part 1. A text that stays empty isn't sent. */
export function ThreadTexts({ texts, published, choose }: ThreadTextsProps) {
  /** The place of the field that is to have the focus once it is there. */
  const next = useRef<number | undefined>(undefined)
  const add = useRef<HTMLButtonElement>(null)
  const focusNext = (field: HTMLTextAreaElement | null, at: number) => {
    if (field === null || next.current !== at) return
    next.current = undefined
    field.focus()
  }
  const remove = (at: number) => {
    next.current = texts.length === 1 ? undefined : Math.max(0, at - 1)
    if (texts.length === 1) add.current?.focus()
    choose(texts.filter((_, place) => place !== at))
  }
  return (
    <>
      {texts.map((text, at) => (
        <div key={at} class="part">
          <label class="part-text">
            Part {at + 2}
            {at < published && ', published'}
            <textarea
              rows={3}
              value={text}
              readOnly={at < published}
              ref={(field) => focusNext(field, at)}
              onInput={(event) => {
                const typed = event.currentTarget.value
                choose(texts.map((one, place) => (place === at ? typed : one)))
              }}
            />
          </label>
          <span class="label">{lengthText(text)}</span>
          {at >= published && (
            <button type="button" aria-label={`Remove part ${at + 2}`} onClick={() => remove(at)}>
              Remove
            </button>
          )}
        </div>
      ))}
      <div>
        <button
          type="button"
          ref={add}
          title="A text that follows as a reply, on X, Bluesky, Threads and Mastodon"
          onClick={() => {
            next.current = texts.length
            choose([...texts, ''])
          }}
        >
          Add to thread
        </button>
      </div>
    </>
  )
}

interface PublishedPart {
  readonly url: string
}

/** The published parts of a thread; undefined where there are none, or the post has no thread. */
export function partsIn(result: Readonly<Record<string, unknown>>): readonly PublishedPart[] | undefined {
  return result['parts'] as readonly PublishedPart[] | undefined
}

function lengthText(text: string): string {
  const length = [...text].length
  return `${length} ${length === 1 ? 'character' : 'characters'}`
}

/** @param all how many parts the post has */
export function Parts({ parts, all }: { readonly parts: readonly PublishedPart[]; readonly all: number }) {
  return (
    <span class="label">
      {parts.length} of {all} parts{' '}
      {parts.map(({ url }, at) => (
        <Part key={url} url={url} number={at + 1} />
      ))}
    </span>
  )
}

function Part({ url, number }: { readonly url: string; readonly number: number }) {
  // A platform's word is no reason to run a script.
  if (!/^https?:\/\//.test(url) || url.startsWith('https://simulated.invalid/')) return null
  return (
    <>
      <a href={url} target="_blank" rel="noreferrer" aria-label={`Open part ${number}`}>
        {number}
      </a>{' '}
    </>
  )
}
