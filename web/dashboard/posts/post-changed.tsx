/** The post was changed by somebody else while it was edited: what is there now, beside what is written here. */
import { changesOf } from '../parts/changes-of.ts'
import { Refusal } from '../parts/failure.tsx'
import { time } from '../parts/format.ts'
import { may } from '../shell/may.ts'
import { asSent, type Draft, draftOf, type Post, type SentDraft } from './post-draft.ts'
import { ReviewState } from './post-review.tsx'

/** A refusal, and the post as it is by now. */
export interface Changed {
  readonly refusal: string
  readonly theirs: Post
}

interface ChangedProps extends Changed {
  readonly timezone: string
  /** As it was read. */
  readonly base: Draft
  readonly mine: Draft
  load(): void
  keep(): void
}

const names: Readonly<Record<keyof Draft, string>> = {
  title: 'Title',
  base_caption: 'Caption',
  thread: 'Thread',
  first_comment: 'First comment',
  tags: 'Tags',
  scheduled_at: 'Time',
  social_account_ids: 'Accounts',
  media_ids: 'Images and videos',
  platform_captions: 'Captions of single networks',
}

export function ChangedMeanwhile({ refusal, theirs, timezone, base, mine, load, keep }: ChangedProps) {
  const before = asSent(base, undefined)
  const now = asSent(draftOf(theirs, timezone), undefined)
  const own = changesOf(asSent(mine, undefined), before)
  const changed = Object.keys(changesOf(now, before)) as (keyof Draft)[]
  const editable = may('posts:publish') ? ['draft', 'scheduled', 'failed'] : ['draft']
  return (
    <section class="part-shown" aria-label="Changed meanwhile">
      <Refusal text={refusal} />
      <p class="note">
        It is {theirs.status} now
        {theirs.scheduled_at !== null && `, for ${time(theirs.scheduled_at, timezone)}`}.{' '}
        {changed.length === 0 ? 'What it says is the same.' : 'These were changed:'}
      </p>
      <ReviewState post={theirs} timezone={timezone} />
      {changed.length > 0 && (
        <ul>
          {changed.map((name) => (
            <li key={name}>
              <strong>{names[name]}</strong>
              {name in own && <span class="label"> as you did</span>}
              {textOf(name, now) !== '' && (
                <p class="caption">
                  <bdi>{textOf(name, now)}</bdi>
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      {editable.includes(theirs.status) ? (
        <div class="controls">
          <button type="button" onClick={load}>
            Load their version
          </button>
          <button type="button" onClick={keep} title="The next save replaces what you both changed">
            Keep mine
          </button>
        </div>
      ) : (
        <p class="note">It can’t be changed any more. Your text stays here until you close it.</p>
      )}
    </section>
  )
}

/** Empty where the field's name must do: for accounts, files and the time. */
function textOf(
  name: keyof SentDraft,
  { title, base_caption, first_comment, thread, tags, platform_captions }: SentDraft,
) {
  const texts: Partial<Record<keyof SentDraft, string>> = {
    title,
    base_caption,
    first_comment: first_comment ?? '',
    tags: tags.join(', '),
    thread: thread.map(({ text }) => text).join('\n'),
    platform_captions: Object.values(platform_captions).join('\n'),
  }
  return texts[name] ?? ''
}
