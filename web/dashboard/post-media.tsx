/** Images and videos of a post that is being written. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { MediaAsset, MediaUsage } from '../../schemas/resources/media.ts'
import { send, useAnswer } from './query.ts'

type Media = (typeof MediaAsset)['_output']

export interface MediaFilesProps {
  /** Names the part that they are files of, where it isn't the caption. */
  readonly of?: string
  /** None is added or removed. */
  readonly isFixed?: boolean
  readonly ids: readonly number[]
  readonly altTexts: AltTexts
  /** Changes the ids chosen by then: several uploads may be under way. */
  choose(choice: (before: readonly number[]) => readonly number[]): void
  refuse(text: string): void
  /** An upload more, or one less. */
  underWay(more: 1 | -1): void
  /** Whether a file was chosen that isn't added yet. */
  held(isHeld: boolean): void
}

/** A file is sent together with its text for those who don't see it. */
export function MediaFiles({ of, isFixed = false, ids, altTexts, choose, refuse, underWay, held }: MediaFilesProps) {
  const [file, setFile] = useState<File>()
  const [altText, setAltText] = useState('')
  const input = useRef<HTMLInputElement>(null)

  // With its part of a thread a chosen file is gone, too.
  useEffect(() => () => held(false), [])

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
      <legend>Images and videos{of && ` of ${of}`}</legend>
      <ul class="media">
        {ids.map((id) => (
          <li key={id}>
            <Shown id={id} />
            <AltText {...{ id, altTexts, refuse }} />
            {!isFixed && (
              <button type="button" onClick={() => choose((before) => before.filter((one) => one !== id))}>
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      {!isFixed && (
        <label>
          File
          <input
            ref={input}
            type="file"
            accept="image/jpeg,image/png,video/mp4,video/quicktime"
            onChange={(event) => hold(event.currentTarget.files?.[0])}
          />
        </label>
      )}
      <Stored isAsked={file !== undefined} />
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

/** How much of the plan's room is taken, once it is asked for by choosing a file. */
function Stored({ isAsked }: { isAsked: boolean }) {
  const { answer } = useAnswer<(typeof MediaUsage)['_output']>(isAsked ? '/media/usage' : undefined)
  if (answer === undefined) return null
  return (
    <p class="note">
      {inGigabytes(answer.stored_bytes)} of {inGigabytes(answer.max_bytes)} GB are taken.
    </p>
  )
}

const inGigabytes = (bytes: number) => (bytes / 1e9).toLocaleString('en', { maximumFractionDigits: 2 })

interface AltTextOfFile {
  readonly typed: string
  /** The file's own; undefined from a change on until it is answered, or where that was refused. */
  readonly kept: string | undefined
}

/** Alternative texts that are written here, of the files of a post. A text belongs to its file, whatever becomes of the post. */
export function useAltTexts(ids: readonly number[]) {
  const [texts, setTexts] = useState<Readonly<Record<number, AltTextOfFile>>>({})
  const [saves, countSave] = useState(0)
  const keep = (id: number, kept: string | undefined) =>
    setTexts((before) => ({ ...before, [id]: { ...before[id]!, kept } }))
  const unsaved = ids.filter((id) => texts[id]?.typed !== texts[id]?.kept)

  async function saveOne(id: number): Promise<string> {
    const text = texts[id]!.typed
    keep(id, undefined)
    const sent = await send<Media>('PATCH', `/media/${id}`, { alt_text: text })
    if ('refusal' in sent) return sent.refusal
    keep(id, text)
    countSave((before) => before + 1)
    return ''
  }

  return {
    areUnsaved: unsaved.length > 0,
    saves,
    of: (id: number) => texts[id],
    type: (id: number, typed: string, found: string) =>
      setTexts((before) => ({ ...before, [id]: { ...(before[id] ?? { kept: found }), typed } })),
    /** @returns why one of them was refused; '' where all are saved */
    async save(): Promise<string> {
      return (await Promise.all(unsaved.map(saveOne))).find((refusal) => refusal !== '') ?? ''
    },
  }
}

export type AltTexts = ReturnType<typeof useAltTexts>

/** Nobody else is likely to change it. */
const seldomMs = 600_000

/** It is saved once the field is left, and with the post where that was refused. */
function AltText({ id, altTexts, refuse }: { id: number } & Pick<MediaFilesProps, 'altTexts' | 'refuse'>) {
  const text = altTexts.of(id)
  // The newest before the next id.
  const { answer } = useAnswer<Media[]>(`/media?limit=1&before_id=${id + 1}`, { againMs: seldomMs })
  const asset = answer?.find((one) => one.id === id)
  if (asset === undefined) return null
  const type = (typed: string) => {
    altTexts.type(id, typed, asset.alt_text)
    refuse('')
  }
  /** A refusal that went now would take the button of a click that left the field away from under it. */
  const save = async () => {
    const refusal = await altTexts.save()
    if (refusal !== '') refuse(refusal)
  }
  return (
    <label>
      Alternative text, in all its posts{text && text.typed === text.kept && ' (saved)'}
      <input
        value={text?.typed ?? asset.alt_text}
        onInput={(event) => type(event.currentTarget.value)}
        onChange={save}
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
