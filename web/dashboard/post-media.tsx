/** Images and videos of a post that is being written. */
import { useRef, useState } from 'preact/hooks'
import type { MediaAsset } from '../../schemas/resources/media.ts'
import { send, useAnswer } from './query.ts'

type Media = (typeof MediaAsset)['_output']

interface MediaFilesProps {
  readonly ids: readonly number[]
  /** Changes the ids chosen by then: several uploads may be under way. */
  choose(choice: (before: readonly number[]) => readonly number[]): void
  refuse(text: string): void
  /** An upload more, or one less. */
  underWay(more: 1 | -1): void
  /** Whether a file was chosen that isn't added yet. */
  held(isHeld: boolean): void
}

/** A file is sent together with its text for those who don't see it. */
export function MediaFiles({ ids, choose, refuse, underWay, held }: MediaFilesProps) {
  const [file, setFile] = useState<File>()
  const [altText, setAltText] = useState('')
  const input = useRef<HTMLInputElement>(null)

  function hold(next: File | undefined): void {
    setFile(next)
    held(next !== undefined)
    if (next === undefined && input.current) input.current.value = ''
  }

  async function add(chosen: File): Promise<void> {
    const form = new FormData()
    form.set('file', chosen)
    form.set('alt_text', altText)
    hold(undefined)
    // The next file is another one: the text must not go with it.
    setAltText('')
    underWay(1)
    const sent = await send<Media>('POST', '/media', form)
    underWay(-1)
    refuse('refusal' in sent ? sent.refusal : '')
    if ('refusal' in sent) return setAltText((text) => text || altText)
    choose((before) => [...before, sent.made.id])
  }

  return (
    <fieldset>
      <legend>Images and videos</legend>
      <ul class="media">
        {ids.map((id) => (
          <li key={id}>
            <Shown id={id} />
            <AltText {...{ id, refuse }} />
            <button type="button" onClick={() => choose((before) => before.filter((one) => one !== id))}>
              Remove
            </button>
          </li>
        ))}
      </ul>
      <label>
        File
        <input
          ref={input}
          type="file"
          accept="image/jpeg,image/png,video/mp4,video/quicktime"
          onChange={(event) => hold(event.currentTarget.files?.[0])}
        />
      </label>
      {file && (
        <>
          <label>
            What it shows, for people who can't see it
            <input value={altText} onInput={(event) => setAltText(event.currentTarget.value)} />
          </label>
          <button type="button" onClick={() => add(file)}>
            Add the file
          </button>
        </>
      )}
    </fieldset>
  )
}

/** Nobody else is likely to change it. */
const seldomMs = 600_000

/** The text belongs to the file, whatever becomes of the post: it is saved once the field is left. */
function AltText({ id, refuse }: { id: number } & Pick<MediaFilesProps, 'refuse'>) {
  const [text, setText] = useState<string>()
  const [saved, setSaved] = useState<string>()
  // The newest before the next id.
  const { answer } = useAnswer<Media[]>(`/media?limit=1&before_id=${id + 1}`, { againMs: seldomMs })
  const asset = answer?.find((one) => one.id === id)
  if (asset === undefined) return null
  const save = async (alt_text: string) => {
    const sent = await send<Media>('PATCH', `/media/${id}`, { alt_text })
    refuse('refusal' in sent ? sent.refusal : '')
    setSaved('refusal' in sent ? undefined : alt_text)
  }
  return (
    <label>
      Alternative text, in all its posts{saved !== undefined && saved === text && ' (saved)'}
      <input
        value={text ?? asset.alt_text}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => save(event.currentTarget.value)}
      />
    </label>
  )
}

/** A post names its media by their ids alone: what is no image is a video. */
function Shown({ id }: { id: number }) {
  const [isVideo, setVideo] = useState(false)
  const file = { src: `/api/v1/media/${id}/file`, width: 96, height: 96 }
  if (isVideo) return <video {...file} aria-label={`File ${id}`} controls muted />
  return <img {...file} alt={`File ${id}`} onError={() => setVideo(true)} />
}
