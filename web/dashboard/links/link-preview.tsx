/** A tracked link's own preview in its forms: three fields, and the card that apps make of them. */
import { useState } from 'preact/hooks'
import type { LinkPreview } from '../../../schemas/resources/link-preview.ts'
import { readUrl } from '../parts/read-url.ts'

const fields = { title: 'preview_title', description: 'preview_description', image_url: 'preview_image' } as const
type Texts = Readonly<Record<keyof typeof fields, string>>

export function PreviewFields({ of = null }: { readonly of?: LinkPreview | null }) {
  const [texts, setTexts] = useState<Texts>({
    title: of?.title ?? '',
    description: of?.description ?? '',
    image_url: of?.image_url ?? '',
  })
  const isFilled = Object.values(texts).some((text) => text !== '')
  const propsOf = (field: keyof Texts) => ({
    name: fields[field],
    value: texts[field],
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      setTexts({ ...texts, [field]: currentTarget.value }),
  })
  return (
    <fieldset class="preview-fields">
      <legend>Its own preview in apps and posts</legend>
      <label>
        Title (empty: the destination’s preview) <input {...propsOf('title')} required={isFilled} />
      </label>
      <label>
        Description <textarea rows={2} {...propsOf('description')} />
      </label>
      <label>
        Image <input type="url" placeholder="https://example.com/card.png" {...propsOf('image_url')} />
      </label>
      {isFilled && <PreviewCard {...texts} />}
    </fieldset>
  )
}

/** The card as apps show it, without the image: a page of the dashboard loads none from elsewhere. */
export function PreviewCard({ title, description, image_url: image }: Texts) {
  const host = readUrl(image)?.host
  return (
    <figure class="preview-card" aria-label="Preview card">
      {host !== undefined && (
        <p class="image">
          Image from <bdi>{host}</bdi>
        </p>
      )}
      <strong>
        <bdi>{title || 'Without a title'}</bdi>
      </strong>
      {description !== '' && (
        <p>
          <bdi>{description}</bdi>
        </p>
      )}
    </figure>
  )
}

/** Takes the preview's fields out of a form's data; null: the link has none. A text of several lines becomes one. */
export function takePreview(data: FormData): LinkPreview | null {
  const [title, description, image] = Object.values(fields).map((name) => {
    const text = String(data.get(name) ?? '').replace(/\s*[\r\n]+\s*/g, ' ')
    data.delete(name)
    return text.trim()
  }) as [string, string, string]
  if (title === '' && description === '' && image === '') return null
  return { title, description, image_url: image || null }
}
