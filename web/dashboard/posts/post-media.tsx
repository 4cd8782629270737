/** Images and videos of a post that is being written. */
import { Fragment } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { MediaAsset, MediaUsage } from '../../../schemas/resources/media.ts'
import { forgetChosen } from '../parts/forget-chosen.ts'
import { number } from '../parts/format.ts'
import { send, useAnswer } from '../requests/query.ts'
import { addressOf } from '../shell/shared-page.ts'

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

/** A file that was chosen, with its text for those who don't see it: both are sent together. */
interface Chosen {
  readonly file: File
  readonly altText: string
}

/** Statuses of a file that can't be added, however often it is sent. */
const refusedFileStatuses = [413, 415, 422]

export function MediaFiles({ of, isFixed = false, ids, altTexts, choose, refuse, underWay, held }: MediaFilesProps) {
  const [chosen, setChosen] = useState<readonly Chosen[]>([])
  /** As they are by now: others may be chosen while some are added. */
  const newest = useRef(chosen)
  /** The text of a file that was refused is that of the next one. */
  const textLeft = useRef('')
  const input = useRef<HTMLInputElement>(null)
  /** Tells how the files fared: the buttons that were pressed go. */
  const [state, tell] = useState('')

  // With its part of a thread a chosen file is gone, too.
  useEffect(() => () => held(false), [])

  function hold(next: readonly Chosen[]): void {
    newest.current = next
    setChosen(next)
    held(next.length > 0)
    if (next.length === 0 && input.current) input.current.value = ''
  }

  function holdFiles(before: readonly Chosen[], files: FileList): void {
    hold([...before, ...[...files].map((file) => ({ file, altText: files.length > 1 ? '' : textLeft.current }))])
    textLeft.current = ''
  }

  /** One after another, so that they stand in the order in which they were chosen. */
  async function add(files: readonly Chosen[]): Promise<void> {
    hold([])
    underWay(1)
    const name = files.length > 1 ? `${files.length} files` : files[0]!.file.name
    tell(`Adding ${name} …`)
    const refusals: string[] = []
    const left: Chosen[] = []
    for (const { file, altText } of files) {
      const form = new FormData()
      form.set('file', file)
      form.set('alt_text', altText)
      const sent = await send<Media>('POST', '/media', form)
      if ('made' in sent) choose((before) => [...before, sent.made.id])
      else {
        refusals.push(files.length > 1 ? `${file.name}: ${sent.refusal}` : sent.refusal)
        if (refusedFileStatuses.includes(sent.status ?? 0)) textLeft.current = altText
        else left.push({ file, altText })
      }
    }
    underWay(-1)
    // One press sends them again. Their part of a thread may be gone by now.
    if (left.length > 0 && input.current) hold([...left, ...newest.current])
    const added = files.length - refusals.length
    if (added === 0) tell('')
    else tell(files.length > 1 ? `${added} of ${name} were added.` : `${name} was added.`)
    refuse(refusals.join('. '))
  }

  const remove = (id: number) => {
    choose((before) => before.filter((one) => one !== id))
    tell(`File ${id} was removed.`)
  }

  const drop = (event: DragEvent) => {
    const files = event.dataTransfer?.files
    if (isFixed || !files?.length) return
    event.preventDefault()
    holdFiles(chosen, files)
  }

  return (
    <fieldset
      onDragOver={(event) => event.dataTransfer?.types.includes('Files') && event.preventDefault()}
      onDrop={drop}
    >
      <legend>Images and videos{of && ` of ${of}`}</legend>
      <p role="status" class={state === '' ? 'unseen' : 'note'}>
        <bdi>{state}</bdi>
      </p>
      <ul class="media">
        {ids.map((id) => (
          <li key={id}>
            <Shown id={id} />
            <AltText id={id} altTexts={altTexts} refuse={refuse} />
            {!isFixed && (
              <button type="button" aria-label={`Remove file ${id}`} onClick={() => remove(id)}>
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      {!isFixed && (
        <label>
          Files, chosen or dropped here
          <input
            ref={input}
            type="file"
            multiple
            accept="image/jpeg,image/png,video/mp4,video/quicktime"
            onClick={forgetChosen}
            onChange={(event) => holdFiles([], event.currentTarget.files!)}
          />
        </label>
      )}
      <Stored isAsked={chosen.length > 0} />
      {chosen.map(({ file, altText }, at) => (
        <Fragment key={at}>
          <label>
            <span>What {chosen.length > 1 ? <bdi>{file.name}</bdi> : 'it'} shows, for people who can't see it</span>
            <input
              value={altText}
              onInput={({ currentTarget: { value } }) => hold(chosen.with(at, { file, altText: value }))}
            />
          </label>
          <button type="button" onClick={() => hold(chosen.filter((one) => one.file !== file))}>
            Leave out <bdi>{file.name}</bdi>
          </button>
        </Fragment>
      ))}
      {chosen.length > 0 && (
        <button type="button" onClick={() => add(chosen)}>
          {chosen.length > 1 ? 'Add the files' : 'Add the file'}
        </button>
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

const inGigabytes = (bytes: number) => number(Math.round(bytes / 1e7) / 100)

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
      <span>
        Alternative text<span class="unseen"> of file {id}</span>, in all its posts
        {text && text.typed === text.kept && ' (saved)'}
      </span>
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
  const file = { src: addressOf(`/api/v1/media/${id}/file`), width: 96, height: 96 }
  if (isVideo) return <video {...file} aria-label={`File ${id}`} controls muted />
  return <img {...file} alt={`File ${id}`} onError={() => setVideo(true)} />
}
