/** Images and videos of a post that is being written. */
import { Fragment, type RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { jpegPlatforms } from '../../../schemas/reference/jpeg-platforms.ts'
import type { MediaUsage } from '../../../schemas/resources/media.ts'
import { forgetChosen } from '../parts/forget-chosen.ts'
import { number } from '../parts/format.ts'
import { send, useAnswer } from '../requests/query.ts'
import { addressOf } from '../shell/shared-page.ts'
import { AboutFile, type AltTexts, type Media, type ReplaceByJpeg } from './about-file.tsx'
import { jpegCopy, needsJpegCopy } from './jpeg-copy.ts'

export interface MediaFilesProps {
  /** Names the part that they are files of, where it isn't the caption. */
  readonly of?: string
  /** None is added or removed. */
  readonly isFixed?: boolean
  readonly ids: readonly number[]
  readonly altTexts: AltTexts
  /** Networks of the chosen accounts. */
  readonly platforms: readonly string[]
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

export function MediaFiles(props: MediaFilesProps) {
  const { of, isFixed = false, ids, altTexts, platforms, choose, refuse, underWay, held } = props
  const [chosen, setChosen] = useState<readonly Chosen[]>([])
  /** As they are by now: others may be chosen while some are added. */
  const newest = useRef(chosen)
  /** The text of a file that was refused is that of the next one. */
  const textLeft = useRef('')
  const input = useRef<HTMLInputElement>(null)
  const fields = useRef<HTMLFieldSetElement>(null)
  /** Tells how the files fared: the buttons that were pressed go. */
  const [state, tell] = useState('')

  // With its part of a thread a chosen file is gone, too.
  useEffect(() => () => held(false), [])
  usePastedFiles(fields, (files) => !isFixed && holdFiles(newest.current, files))

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
      // The refusal of an image that can't be copied names the formats.
      const sent = await upload((needsJpegCopy(file) && (await jpegCopy(file, file.name))) || file, altText)
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

  const replaceByJpeg: ReplaceByJpeg = async ({ id, filename }, altText, shown) => {
    underWay(1)
    tell(`Making a JPG of file ${id} …`)
    const copy = await jpegCopy(shown, filename)
    const sent = copy ? await upload(copy, altText) : { refusal: 'The file can’t be turned into a JPG here.' }
    underWay(-1)
    if ('refusal' in sent) {
      tell('')
      return refuse(sent.refusal)
    }
    choose((before) => before.map((one) => (one === id ? sent.made.id : one)))
    tell(`A JPG is in the place of file ${id}.`)
    refuse('')
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
      ref={fields}
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
            <AboutFile
              id={id}
              altTexts={altTexts}
              refuse={refuse}
              replaceByJpeg={
                !isFixed && platforms.some((one) => jpegPlatforms.includes(one)) ? replaceByJpeg : undefined
              }
            />
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
          Files, chosen, dropped or pasted
          <input
            ref={input}
            type="file"
            multiple
            accept="image/jpeg,image/png,image/webp,image/avif,image/bmp,video/mp4,video/quicktime"
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

/** Files that are pasted anywhere in the part of the post that the fields belong to, its text as well. */
function usePastedFiles(fields: RefObject<Element | null>, take: (files: FileList) => void): void {
  const newest = useRef(take)
  newest.current = take
  useEffect(() => {
    const part = partOf(fields.current)!
    const onPaste = (event: ClipboardEvent) => {
      const { files, types } = event.clipboardData!
      // Text that is copied in an office program has a picture of itself.
      if (files.length === 0 || types.includes('text/plain') || partOf(event.target) !== part) return
      event.preventDefault()
      newest.current(files)
      // Those of a further part are folded away.
      const folded = fields.current!.closest('details')
      if (folded) folded.open = true
    }
    part.addEventListener('paste', onPaste)
    return () => part.removeEventListener('paste', onPaste)
  }, [])
}

function partOf(place: EventTarget | null): HTMLElement | null {
  return place instanceof Element ? place.closest<HTMLElement>('.part, form') : null
}

function upload(file: File, altText: string) {
  const form = new FormData()
  form.set('file', file)
  form.set('alt_text', altText)
  return send<Media>('POST', '/media', form)
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

/** A post names its media by their ids alone: what is no image is a video. */
function Shown({ id }: { id: number }) {
  const [isVideo, setVideo] = useState(false)
  const file = { src: addressOf(`/api/v1/media/${id}/file`), width: 96, height: 96 }
  if (isVideo) return <video {...file} aria-label={`File ${id}`} controls muted />
  return <img {...file} alt={`File ${id}`} onError={() => setVideo(true)} />
}
