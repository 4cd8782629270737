/** Facts about the company: the pages they come from, each claim with its quote, and what went wrong. */
import { useEffect, useRef } from 'preact/hooks'
import type { CompanyProfile } from '../../schemas/resources/company-profile.ts'
import { Facts } from './parts/facts.tsx'
import { Failure, Refusal } from './parts/failure.tsx'
import { percent, time } from './parts/format.ts'
import { linesIn } from './parts/lines-in.ts'
import { Panel } from './parts/panel.tsx'
import type { Workspace } from './requests/answers.ts'
import { send, useAnswer } from './requests/query.ts'
import { useRefusal } from './requests/use-refusal.ts'
import { may } from './shell/may.ts'

export function ProfilePage({ workspace }: { workspace: Workspace }) {
  const { answer, failure } = useAnswer<CompanyProfile>('/company-profile', {
    isHurried: ({ status }) => status === 'generating',
  })
  return (
    <main>
      {failure && <Failure {...failure} />}
      {answer && (
        <>
          {may('profile:write') && <Sources profile={answer} timezone={workspace.timezone} />}
          {answer.generated_at === null ? (
            !may('profile:write') && <Unknown />
          ) : (
            <Known profile={answer} generatedAt={answer.generated_at} workspace={workspace} />
          )}
          <Evidence profile={answer} />
        </>
      )}
    </main>
  )
}

function Sources({ profile, timezone }: { profile: CompanyProfile; timezone: string }) {
  const { status, source_urls, error, generated_at } = profile
  const isGenerating = status === 'generating'
  const { refusal, done } = useRefusal()
  const field = useRef<HTMLTextAreaElement>(null)
  const saved = source_urls.join('\n')
  /** The text that the field was filled with, or that was saved of it. */
  const settled = useRef(saved)
  useEffect(() => {
    // A text that is being written stays, whatever was saved meanwhile.
    if (field.current!.value === settled.current) field.current!.value = saved
    settled.current = saved
  }, [saved])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const written = field.current!.value
    const sent = await send<CompanyProfile>('PATCH', '/company-profile/sources', { source_urls: linesIn(written) })
    if ('made' in sent && field.current?.value === written) {
      settled.current = sent.made.source_urls.join('\n')
      field.current.value = settled.current
    }
    done(sent)
  }
  return (
    <form class="panel editor" onSubmit={submit} aria-label="Sources">
      <h2>{generated_at === null ? title : 'Pages that the profile is made from'}</h2>
      {generated_at === null && (
        <p class="note">
          {meaning} Name some pages, such as the home page, prices and “about us”. The profile stands here within a
          minute.
        </p>
      )}
      <label>
        Public pages that describe the company, one per line
        <textarea ref={field} rows={3} required defaultValue={saved} />
      </label>
      <p role="status" class={isGenerating || error === null ? 'unseen' : 'bad caption'}>
        {isGenerating && 'The profile is being generated.'}
        {!isGenerating && <bdi>{error ?? (generated_at && `Generated ${time(generated_at, timezone)}.`)}</bdi>}
      </p>
      <Refusal text={refusal} />
      <div class="controls">
        <button type="submit">Save the pages</button>
        {source_urls.length > 0 && (
          <button
            type="button"
            aria-disabled={isGenerating}
            onClick={async () => done(await send('POST', '/company-profile/refresh'))}
          >
            {isGenerating ? 'Being generated…' : 'Generate again'}
          </button>
        )}
      </div>
    </form>
  )
}

const title = 'Company profile'
const meaning = 'The profile says what the company does, for whom and in which tone, with a quote for each claim.'

/** For whoever may not name pages. */
function Unknown() {
  return (
    <Panel title={title}>
      <p class="empty">{meaning} It is made once somebody who writes posts names pages that describe the company.</p>
    </Panel>
  )
}

interface KnownProps {
  readonly profile: CompanyProfile
  readonly generatedAt: string
  readonly workspace: Workspace
}

function Known({ profile, generatedAt, workspace }: KnownProps) {
  const { confidence, messaging, tone, visual_identity: looks, social_posture: posture } = profile
  const facts = [
    ['Summary', profile.summary],
    ['Audience', profile.audience],
    ['Positioning', profile.positioning],
    ['Value propositions', profile.value_props.join('\n')],
    ['Features', profile.feature_set.join('\n')],
    ['Headline', messaging.headline],
    ['Tagline', messaging.tagline],
    ['Calls to action', messaging.calls_to_action.join(', ')],
    ['Tone', [tone.label, ...tone.traits].filter(Boolean).join(', ')],
    ['Colors', looks.colors.join(', ')],
    ['Fonts', looks.fonts.join(', ')],
    ['Social posts', posture.summary],
  ] as const
  return (
    <section class="panel" aria-label={title}>
      <h2>
        {title}
        <span class="label">
          {time(generatedAt, workspace.timezone)}, confidence {percent(confidence * 100)}
        </span>
      </h2>
      <Facts facts={facts.filter(([, text]) => text !== '')} />
    </section>
  )
}

/** Fields whose name says something else than their facts above do. */
const names: Readonly<Record<string, string>> = {
  value_props: 'Value propositions',
  feature_set: 'Features',
  'visual_identity.logo_url': 'Logo',
  'visual_identity.theme': 'Light or dark',
  social_posture: 'Social posts',
  'social_posture.platforms': 'Social networks',
  'social_posture.top_tags': 'Tags of posts',
  context_text: 'Links and visits',
}

/** `messaging.calls_to_action` is `Calls to action`. */
function nameOf(field: string): string {
  const words = field.slice(field.lastIndexOf('.') + 1).replaceAll('_', ' ')
  if (Object.hasOwn(names, field)) return names[field]!
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

function Evidence({ profile: { evidence } }: { profile: CompanyProfile }) {
  if (evidence.length === 0) return null
  return (
    <Panel title="Evidence">
      <ul>
        {evidence.map(({ field, quote, source_url }) => (
          <li key={`${field} ${quote} ${source_url}`} class="advice">
            <strong>{nameOf(field)}</strong>
            <blockquote>
              <bdi>{quote}</bdi>
            </blockquote>
            <bdi class="label">{source_url}</bdi>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
