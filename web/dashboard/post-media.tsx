/** Images and videos of a post that is being written. */
import { useState } from 'preact/hooks'
import type { MediaAsset } from '../../schemas/resources/media.ts'
import { send } from './query.ts'

type Media = (typeof MediaAsset)['_output']

interface MediaFilesProps {
  readonly ids: readonly number[]
  /** Of those that are chosen by then: several uploads may be under way. */
  choose(choice: (before: readonly number[]) => readonly number[]): void
  refuse(text: string): void
  /** An upload more, or one less. */
  underWay(more: 1 | -1): void
}

/** Sent as soon as they are chosen, each with its text for those who don't see it. */
export function MediaFiles({ ids, choose, refuse, underWay }: MediaFilesProps) {
  const [altText, setAltText] = useState('')
  async function upload(input: HTMLInputElement): Promise<void> {
    const [file] = input.files ?? []
    if (file === undefined) return
    const form = new FormData()
    form.set('file', file)
    form.set('alt_text', altText)
    setAltText('')
    input.value = ''
    underWay(1)
    const sent = await send<Media>('POST', '/media', form)
    underWay(-1)
    refuse('refusal' in sent ? sent.refusal : '')
    if ('made' in sent) choose((before) => [...before, sent.made.id])
    else setAltText((text) => text || altText)
  }
  return (
    <fieldset>
      <legend>Images and videos</legend>
      <ul class="media">
        {ids.map((id) => (
          <li key={id}>
            <Shown id={id} />
            <button type="button" onClick={() => choose((before) => before.filter((one) => one !== id))}>
              Take off
            </button>
          </li>
        ))}
      </ul>
      <label>
        What the next one shows, in words
        <input value={altText} onInput={(event) => setAltText(event.currentTarget.value)} />
      </label>
      <label>
        File
        <input
          type="file"
          accept="image/jpeg,image/png,video/mp4,video/quicktime"
          onChange={(event) => upload(event.currentTarget)}
        />
      </label>
    </fieldset>
  )
}

/** A post names its media by their ids alone: what is no image is a video. */
function Shown({ id }: { id: number }) {
  const [isVideo, setVideo] = useState(false)
  const file = { src: `/api/v1/media/${id}/file`, width: 96, height: 96 }
  if (isVideo) return <video {...file} aria-label={`File ${id}`} controls muted />
  return <img {...file} alt={`File ${id}`} onError={() => setVideo(true)} />
}
