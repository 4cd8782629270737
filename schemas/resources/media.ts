/** Media assets, and the form that uploads one. docs/media.md has the rules of files. */
import { z } from 'zod'
import type { ValidationError } from '../errors/validation-errors.ts'
import type { Build } from '../errors/zod-errors.ts'
import { altTextLengthMax } from '../limits/media-limits.ts'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'

/** A file that a form brought: on our disk, and seen by nobody until it is kept. */
export interface UploadedFile {
  /** As it was sent. */
  readonly originalFilename: string
  readonly filename: string
  /** By its content. */
  readonly contentType: string
  readonly bytes: number
  readonly sha256: Buffer
  readonly size: { readonly width: number; readonly height: number } | undefined
  /** Why it can't be accepted. */
  readonly fault: ((loc: readonly (string | number)[]) => ValidationError) | undefined
  /** Called before the row that refers to the file is committed. */
  keep(workspaceId: number): Promise<void>
}

const isUploadedFile = (value: unknown) => typeof value === 'object' && value !== null && 'sha256' in value

/** The file of a form: a text in its place, as a plain field brings it, is none. */
const file = z
  .custom<UploadedFile>(isUploadedFile, "Expected UploadFile, received: <class 'str'>")
  .superRefine(({ fault }, context) => {
    if (fault === undefined) return
    const build: Build = (loc) => fault(loc)
    context.addIssue({ code: 'custom', params: { build } })
  })
  .meta({ description: 'JPG, PNG, MP4 or MOV.' })

const altText = z.string().max(altTextLengthMax)
const ofAltText = { description: 'What it shows, in words.' }

export const MediaUpload = z
  .object({
    file,
    alt_text: altText.default('').meta(ofAltText),
  })
  .meta({ id: 'MediaUpload' })

export const MediaUpdate = z.object({ alt_text: altText.meta(ofAltText) }).meta({ id: 'MediaUpdate' })

export const MediaUsage = z
  .object({
    stored_bytes: z.int().meta({ description: 'Equal files are stored, and count, once.' }),
    max_bytes: z.int().meta({ description: 'By the plan.' }),
  })
  .meta({ id: 'MediaUsage' })

export const MediaAsset = z
  .object({
    id: z.int(),
    object_id: objectId('media'),
    filename: z.string().meta({ description: 'A safe name, without folders.' }),
    original_filename: z.string().meta({ description: 'As it was sent.' }),
    content_type: z.enum(['image/jpeg', 'image/png', 'video/mp4', 'video/quicktime']),
    size_bytes: z.int(),
    alt_text: z.string(),
    usage_count: z.int().optional().meta({ default: 0, description: 'Posts that show it, archived ones left out.' }),
    used_post_titles: z.array(z.string()).optional().meta({ description: 'Of these, newest first.' }),
    last_used_at: dateTime.nullable().optional().meta({ description: 'When one last changed.' }),
    url: z.string().meta({ description: 'Where the bytes are, for the same key.' }),
    created_at: dateTime,
  })
  .meta({ id: 'MediaAsset' })
