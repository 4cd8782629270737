/** The preview of a draft: how each network would show it, and what stands in the way. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PostPreview } from '../../../schemas/resources/post.ts'
import { number } from '../parts/format.ts'
import { fetchOnce } from '../requests/query.ts'
import type { Draft, SentDraft } from './post-draft.ts'

type Preview = (typeof PostPreview)['_output']

const previewAfterMs = 400

interface PreviewState {
  /** The last one: its fields, which may be typed in, stay when a later one is refused. */
  readonly preview: Preview | undefined
  readonly refusal: string
}

/**
 * Asks for the preview of a draft, a moment after it was last changed.
 *
 * @param altTextSaves how many alternative texts of its files were saved: another number asks, too
 */
export function usePreview(draft: SentDraft, altTextSaves: number): PreviewState {
  const [preview, setPreview] = useState<Preview>()
  const [refusal, setRefusal] = useState('')
  // A title is no part of what a network gets.
  const asked = JSON.stringify({ ...draft, title: '–' })
  useEffect(() => {
    const body = JSON.parse(asked) as SentDraft
    let isGone = false
    async function ask(): Promise<void> {
      const sent = await fetchOnce<Preview>('/posts/preview', body)
      if (isGone) return
      if ('made' in sent) setPreview(sent.made)
      setRefusal('refusal' in sent ? sent.refusal : '')
    }
    const timer = body.base_caption === '' ? undefined : setTimeout(ask, previewAfterMs)
    if (timer === undefined) {
      setPreview(undefined)
      setRefusal('')
    }
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [asked, altTextSaves])
  return { preview, refusal }
}

interface PreviewProps {
  readonly preview: Preview
  /** Whether the form says the message of an issue already. */
  isSaid(message: string): boolean
  readonly draft: Draft
  change(changes: Partial<Draft>): void
}

export function PreviewOf({ preview: { targets, issues: all }, isSaid, draft, change }: PreviewProps) {
  const issues = all.filter(({ message }) => !isSaid(message))
  const platforms = [...new Map(targets.map((target) => [target.platform, target])).values()]
  const write = (platform: string, text: string) => {
    const { [platform]: _, ...others } = draft.platform_captions
    change({ platform_captions: text === '' ? others : { ...others, [platform]: text } })
  }
  return (
    <section aria-label="Preview">
      <ul class="previews">
        {platforms.map(({ platform, thread, character_limit: limit, ...first }) => (
          <li key={platform}>
            <h3>
              {platform} <Length part={first} limit={limit} />
            </h3>
            <p class="caption">
              <bdi>{first.caption}</bdi>
            </p>
            {!issues.some((issue) => issue.platform === platform && issue.code === 'thread_not_taken') &&
              thread.map((part, at) => (
                <div key={at} class="part-shown">
                  <Length part={part} limit={limit} />
                  <p class="caption">
                    <bdi>{part.caption}</bdi>
                  </p>
                </div>
              ))}
            {first.first_comment && (
              <div class="part-shown">
                First comment <Count {...first.first_comment} />
                <p class="caption">
                  <bdi>{first.first_comment.text}</bdi>
                </p>
              </div>
            )}
            <Issues issues={issues.filter((issue) => issue.platform === platform)} />
            <label>
              Another caption for {platform}
              <textarea
                rows={2}
                value={draft.platform_captions[platform] ?? ''}
                onInput={(event) => write(platform, event.currentTarget.value)}
              />
            </label>
          </li>
        ))}
      </ul>
      <Issues issues={issues.filter(({ platform }) => !platforms.some((shown) => shown.platform === platform))} />
    </section>
  )
}

type Part = Preview['targets'][number]['thread'][number]

function Length({ part, limit }: { readonly part: Part; readonly limit: number }) {
  const { character_count, media_count: files } = part
  return (
    <Count character_count={character_count} character_limit={limit}>
      {files > 0 && `, ${files} ${files === 1 ? 'file' : 'files'}`}
    </Count>
  )
}

interface CountProps {
  readonly character_count: number
  readonly character_limit: number
  readonly children?: ComponentChildren
}

function Count({ character_count: count, character_limit: limit, children }: CountProps) {
  return (
    <span class={count > limit ? 'bad' : 'label'}>
      {number(count)} of {number(limit)}
      {children}
    </span>
  )
}

/** Errors stand in the way; warnings are worth a look. */
function Issues({ issues }: { issues: Preview['issues'] }) {
  return (
    <ul aria-live="polite">
      {issues.map(({ loc, code, severity, message, social_account_id }) => (
        <li key={`${loc} ${code} ${social_account_id}`} class={severity === 'error' ? 'bad' : 'middling'}>
          {severity}: <bdi>{message}</bdi>
        </li>
      ))}
    </ul>
  )
}
