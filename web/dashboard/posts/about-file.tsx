/** Beside the picture of a file in the editor of a post: its alternative text, and another format where a network needs it. */
import { useState } from 'preact/hooks'
import type { MediaAsset } from '../../../schemas/resources/media.ts'
import { send, useAnswer } from '../requests/query.ts'

export type Media = (typeof MediaAsset)['_output']

/** @param shown the picture on the page */
export type ReplaceByJpeg = (asset: Media, altText: string, shown: HTMLImageElement) => Promise<void>

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

interface AboutFileProps {
  readonly id: number
  readonly altTexts: AltTexts
  refuse(text: string): void
  /** Undefined: no chosen network needs it. */
  readonly replaceByJpeg: ReplaceByJpeg | undefined
}

/** The alternative text is saved once the field is left, and with the post where that was refused. */
export function AboutFile({ id, altTexts, refuse, replaceByJpeg }: AboutFileProps) {
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
  const shown = text?.typed ?? asset.alt_text
  return (
    <>
      <label>
        <span>
          Alternative text<span class="unseen"> of file {id}</span>, in all its posts
          {text && text.typed === text.kept && ' (saved)'}
        </span>
        <input value={shown} onInput={(event) => type(event.currentTarget.value)} onChange={save} />
      </label>
      {replaceByJpeg && asset.content_type === 'image/png' && (
        <button type="button" onClick={(event) => replaceByJpeg(asset, shown, pictureBeside(event.currentTarget))}>
          Use a JPG, for Instagram<span class="unseen">, of file {id}</span>
        </button>
      )}
    </>
  )
}

const pictureBeside = (button: Element) => button.closest('li')!.querySelector('img')!
