/** The preview of a draft: how each network would show it, and what stands in the way. */
import { useEffect, useState } from 'preact/hooks'
import type { PostPreview } from '../../schemas/resources/post.ts'
import type { Draft } from './post-draft.ts'
import { consult } from './query.ts'

/** With the texts that it is of. */
type Preview = (typeof PostPreview)['_output'] & Pick<Draft, 'thread'>

const previewAfterMs = 400

interface Told {
  /** The last one: its fields, which may be typed in, stay when a later one is refused. */
  readonly preview: Preview | undefined
  readonly refusal: string
}

/**
 * Asks for the preview of a draft, a moment after it was last changed.
 *
 * @param altTextSaves how many alternative texts of its files were saved: another number asks, too
 */
export function usePreview(draft: Draft, altTextSaves: number): Told {
  const [preview, setPreview] = useState<Preview>()
  const [refusal, setRefusal] = useState('')
  // A title is no part of what a network gets.
  const asked = JSON.stringify({ ...draft, title: '–' })
  useEffect(() => {
    const body = JSON.parse(asked) as Draft
    let isGone = false
    async function ask(): Promise<void> {
      const sent = await consult<(typeof PostPreview)['_output']>('/posts/preview', body)
      if (isGone) return
      if ('made' in sent) setPreview({ ...sent.made, thread: body.thread })
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

export function PreviewOf({ preview: { targets, thread, issues: all }, isSaid, draft, change }: PreviewProps) {
  const issues = all.filter(({ message }) => !isSaid(message))
  const platforms = [...new Map(targets.map((target) => [target.platform, target])).values()]
  const write = (platform: string, text: string) => {
    const { [platform]: _, ...others } = draft.platform_captions
    change({ platform_captions: text === '' ? others : { ...others, [platform]: text } })
  }
  return (
    <section aria-label="Preview">
      <ul class="previews" aria-live="polite">
        {platforms.map(({ platform, caption, thread_counts, character_count: count, character_limit: limit }) => (
          <li key={platform}>
            <h3>
              {platform} <Length count={count} limit={limit} />
            </h3>
            <p class="caption">
              <bdi>{caption}</bdi>
            </p>
            {!issues.some((issue) => issue.platform === platform && issue.code === 'thread_not_taken') &&
              thread.map((text, at) => (
                <div key={at} class="part-shown">
                  <Length count={thread_counts[at] ?? 0} limit={limit} />
                  <p class="caption">
                    <bdi>{text}</bdi>
                  </p>
                </div>
              ))}
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

function Length({ count, limit }: { readonly count: number; readonly limit: number }) {
  return (
    <span class={count > limit ? 'bad' : 'label'}>
      {count} of {limit}
    </span>
  )
}

/** Errors stand in the way; warnings are worth a look. */
function Issues({ issues }: { issues: Preview['issues'] }) {
  return (
    <ul>
      {issues.map(({ loc, code, severity, message, social_account_id }) => (
        <li key={`${loc} ${code} ${social_account_id}`} class={severity === 'error' ? 'bad' : 'middling'}>
          {severity}: <bdi>{message}</bdi>
        </li>
      ))}
    </ul>
  )
}
