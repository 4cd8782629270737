/** Facts about the company: the pages they come from, each claim with its quote, and what went wrong. */
import { useEffect, useRef } from 'preact/hooks'
import type { CompanyProfile } from '../../schemas/resources/company-profile.ts'
import { percent, time } from './format.ts'
import { may } from './may.ts'
import type { Workspace } from './overview-data.ts'
import { Panel } from './panel.tsx'
import { Facts, Failure, Refusal } from './parts.tsx'
import { send, useAnswer, useRefusal } from './query.ts'

export function ProfilePage({ workspace }: { workspace: Workspace }) {
  const { answer, failure } = useAnswer<CompanyProfile>('/company-profile', {
    isHurried: ({ status }) => status === 'generating',
  })
  return (
    <main>
      {failure && <Failure {...failure} />}
      {answer && (
        <>
          {may('profile:write') && <Sources profile={answer} />}
          <Known profile={answer} workspace={workspace} />
          <Evidence profile={answer} />
        </>
      )}
    </main>
  )
}

function Sources({ profile }: { profile: CompanyProfile }) {
  const { status, source_urls, error } = profile
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
    const urls = written
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
    const sent = await send<CompanyProfile>('PATCH', '/company-profile/sources', { source_urls: urls })
    if ('made' in sent && field.current?.value === written) {
      settled.current = sent.made.source_urls.join('\n')
      field.current.value = settled.current
    }
    done(sent)
  }
  return (
    <form class="panel editor" onSubmit={submit} aria-label="Sources">
      <label>
        Public pages that describe the company, one per line
        <textarea ref={field} rows={3} required defaultValue={saved} />
      </label>
      {error !== null && (
        <p class="bad caption">
          <bdi>{error}</bdi>
        </p>
      )}
      <Refusal text={refusal} />
      <div class="controls">
        <button type="submit">Save the pages</button>
        <button
          type="button"
          disabled={source_urls.length === 0 || status === 'generating'}
          onClick={async () => done(await send('POST', '/company-profile/refresh'))}
        >
          {status === 'generating' ? 'Being generated…' : 'Generate again'}
        </button>
      </div>
    </form>
  )
}

function Known({ profile, workspace }: { profile: CompanyProfile; workspace: Workspace }) {
  const { generated_at, confidence, messaging, tone, visual_identity: looks, social_posture: posture } = profile
  if (generated_at === null) return <p class="empty">Nothing is known yet.</p>
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
    <section class="panel" aria-label="Company profile">
      <h2>
        Company profile
        <span class="label">
          {time(generated_at, workspace.timezone)}, confidence {percent(confidence * 100)}
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
