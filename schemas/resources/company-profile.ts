/** The company profile as the API shows it. docs/company-profile.md says where each field comes from. */
import { z } from 'zod'
import { idInBody } from '../lax.ts'
import { profileSourcesMax, profileUrlLengthMax } from '../limits/profile-limits.ts'
import { isWebUrl } from '../web-url.ts'
import { dateTime } from './date-time.ts'

const mediaRoles = ['logo', 'product_image', 'brand_reference', 'screenshot', 'demo_video'] as const
export type MediaRole = (typeof mediaRoles)[number]

export const CompanyProfileSources = z
  .object({
    source_urls: z
      .array(
        z
          .string()
          .max(profileUrlLengthMax)
          .refine(
            isWebUrl,
            'The URL must begin with http:// or https://, and have a host, no credentials and no blanks',
          ),
      )
      .min(1)
      .max(profileSourcesMax)
      .meta({ description: 'Public pages about the company, in place of those before.' }),
  })
  .meta({ id: 'CompanyProfileSources' })

export const CompanyProfileMedia = z
  .object({ media_id: idInBody('media'), role: z.enum(mediaRoles) })
  .meta({ id: 'CompanyProfileMedia' })

const texts = z.array(z.string())

const Evidence = z
  .object({ field: z.string(), quote: z.string().meta({ description: 'As it stands there.' }), source_url: z.string() })
  .meta({ id: 'CompanyProfileEvidence' })

const ProfileMedia = z
  .object({ media_id: z.int(), role: z.enum(mediaRoles), url: z.string() })
  .meta({ id: 'CompanyProfileMediaReference' })

/** The generated part; all of it is empty where nothing was found. */
const generated = {
  summary: z.string(),
  audience: z.string(),
  positioning: z.string(),
  value_props: texts,
  feature_set: texts,
  messaging: z.object({ headline: z.string(), tagline: z.string(), key_messages: texts, calls_to_action: texts }),
  tone: z.object({ label: z.string(), traits: texts }),
  visual_identity: z.object({
    colors: texts,
    fonts: texts,
    logo_url: z.string().nullable(),
    theme: z.enum(['light', 'dark', '']).meta({ description: 'Empty where the pages don’t say.' }),
  }),
  social_posture: z.object({
    platforms: texts,
    summary: z.string(),
    posting_frequency_per_week: z.number(),
    top_tags: texts,
  }),
  evidence: z.array(Evidence),
  confidence: z.number().min(0).max(1),
  context_text: z.string().meta({ description: 'All of it as one text, for a prompt.' }),
}

export const GeneratedProfile = z.object(generated)
export type GeneratedProfile = z.output<typeof GeneratedProfile>
export type Evidence = z.output<typeof Evidence>

export const CompanyProfile = z
  .object({
    workspace_id: z.int(),
    status: z.enum(['empty', 'generating', 'ready', 'failed']),
    source_urls: texts,
    ...generated,
    images: z.array(ProfileMedia),
    videos: z.array(ProfileMedia),
    error: z.string().nullable().meta({ description: 'Faults of sources, a line each.' }),
    generated_at: dateTime.nullable(),
    version: z.int().meta({ description: 'So often it was generated.' }),
  })
  .meta({ id: 'CompanyProfile' })
export type CompanyProfile = z.output<typeof CompanyProfile>

export const emptyProfile: GeneratedProfile = {
  summary: '',
  audience: '',
  positioning: '',
  value_props: [],
  feature_set: [],
  messaging: { headline: '', tagline: '', key_messages: [], calls_to_action: [] },
  tone: { label: '', traits: [] },
  visual_identity: { colors: [], fonts: [], logo_url: null, theme: '' },
  social_posture: { platforms: [], summary: '', posting_frequency_per_week: 0, top_tags: [] },
  evidence: [],
  confidence: 0,
  context_text: '',
}
