/** The parts that follow the caption of a post, and those of a thread that are published. */
import { type ComponentChildren, Fragment } from 'preact'
import { useRef } from 'preact/hooks'
import { type DraftPart, newPart, type PublishedPart } from './post-draft.ts'
import { PublishedLink } from './published-link.tsx'

interface ThreadPartsProps {
  readonly parts: readonly DraftPart[]
  /** How many of them are published: these stay. */
  readonly published: number
  /** Networks of the chosen accounts. */
  readonly platforms: readonly string[]
  choose(choice: (before: readonly DraftPart[]) => readonly DraftPart[]): void
  /** The files of a part. */
  files(part: DraftPart, name: string, isPublished: boolean): ComponentChildren
}

/** The caption is part 1. A part that stays empty isn't sent. */
export function ThreadParts({ parts, published, platforms, choose, files }: ThreadPartsProps) {
  /** The place of the field that is to have the focus once it is there. */
  const next = useRef<number | undefined>(undefined)
  const add = useRef<HTMLButtonElement>(null)
  const focusNext = (field: HTMLTextAreaElement | null, at: number) => {
    if (field === null || next.current !== at) return
    next.current = undefined
    field.focus()
  }
  const remove = (at: number, key: number) => {
    next.current = parts.length === 1 ? undefined : Math.max(0, at - 1)
    if (parts.length === 1) add.current?.focus()
    choose((before) => before.filter((part) => part.key !== key))
  }
  const change = (key: number, changes: Partial<DraftPart>) =>
    choose((before) => before.map((part) => (part.key === key ? { ...part, ...changes } : part)))
  return (
    <>
      {parts.map((part, at) => (
        <div key={part.key} class="part">
          <label class="part-text">
            Part {at + 2}
            {at < published && ', published'}
            <textarea
              rows={3}
              value={part.text}
              readOnly={at < published}
              ref={(field) => focusNext(field, at)}
              onInput={(event) => change(part.key, { text: event.currentTarget.value })}
            />
          </label>
          <span class="label">{lengthText(part.text)}</span>
          {at >= published && (
            <button type="button" aria-label={`Remove part ${at + 2}`} onClick={() => remove(at, part.key)}>
              Remove
            </button>
          )}
          <details class="part-more">
            <summary>
              Files and other texts of part {at + 2}
              <span class="label">{shownOf(part)}</span>
            </summary>
            {files(part, `part ${at + 2}`, at < published)}
            {platforms.map((platform) => (
              <label key={platform}>
                Another text of part {at + 2} for {platform}
                <textarea
                  rows={2}
                  value={part.platform_captions[platform] ?? ''}
                  readOnly={at < published}
                  onInput={(event) => {
                    const { [platform]: _, ...others } = part.platform_captions
                    const text = event.currentTarget.value
                    change(part.key, { platform_captions: text === '' ? others : { ...others, [platform]: text } })
                  }}
                />
              </label>
            ))}
          </details>
        </div>
      ))}
      <div>
        <button
          type="button"
          ref={add}
          title="A text that follows as a reply, on X, Bluesky, Threads and Mastodon"
          onClick={() => {
            next.current = parts.length
            choose((before) => [...before, newPart()])
          }}
        >
          Add to thread
        </button>
      </div>
    </>
  )
}

/** ` (2 files, x)`: what a part has besides its text. */
function shownOf({ media_ids, platform_captions }: Omit<DraftPart, 'key'>): string {
  const files = media_ids.length === 0 ? [] : [`${media_ids.length} ${media_ids.length === 1 ? 'file' : 'files'}`]
  const all = [...files, ...Object.keys(platform_captions)]
  return all.length === 0 ? '' : ` (${all.join(', ')})`
}

/** A part as the page of its post shows it. */
export function PartShown(part: Omit<DraftPart, 'key'>) {
  const { text, platform_captions: captions } = part
  return (
    <div class="part-shown">
      <p class="caption">
        <bdi>{text}</bdi> <span class="label">{shownOf(part)}</span>
      </p>
      {Object.entries(captions).map(([platform, own]) => (
        <p key={platform} class="caption">
          <span class="label">{platform}</span> <bdi>{own}</bdi>
        </p>
      ))}
    </div>
  )
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
        <Fragment key={url}>
          <PublishedLink url={url} label={`Open part ${at + 1}`}>
            {at + 1}
          </PublishedLink>{' '}
        </Fragment>
      ))}
    </span>
  )
}
