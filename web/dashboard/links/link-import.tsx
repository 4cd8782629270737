/** Import of tracked links from a file: first a look at what will be made, then the links, in portions. */
import { useState } from 'preact/hooks'
import type { ImportedRow } from '../../../schemas/resources/link-import.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/failure.tsx'
import { forgetChosen } from '../parts/forget-chosen.ts'
import { number } from '../parts/format.ts'
import { useIsOpen } from '../parts/use-is-open.ts'
import { fetchOnce, type Sent, send } from '../requests/query.ts'
import { useUnsaved } from '../shell/unsaved.ts'
import { fileBytesMax, fileRowsMax, portionsOf, textOf } from './csv-portions.ts'

/** The API makes the links of a portion one by one, which a machine with much to do takes long for. */
const withinMs = 120_000

/** Rows that are shown, refused ones first. */
const rowsShown = 200

interface Answer {
  readonly rows: readonly ImportedRow[]
}

interface Taken {
  readonly rows: readonly ImportedRow[]
  /** Why the rest wasn't taken. */
  readonly refusal: string
}

const outcomes = { created: 'New', present: 'Already there', refused: 'Refused' } as const
const order = ['refused', 'created', 'present'] as const

export function ImportLinks() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Import links
      </button>
      {isOpen && <ImportDialog close={() => setOpen(false)} />}
    </>
  )
}

function ImportDialog({ close }: { close(): void }) {
  const [portions, setPortions] = useState<readonly string[]>([])
  const [progress, setProgress] = useState('')
  const [seen, setSeen] = useState<Taken>()
  const [made, setMade] = useState<Taken>()
  const [isMaking, setMaking] = useState(false)
  const isOpen = useIsOpen()

  async function takeAll(texts: readonly string[], ask: (csv: string) => Promise<Sent<Answer>>): Promise<Taken> {
    const rows: ImportedRow[] = []
    for (const [at, csv] of texts.entries()) {
      // Nobody sees any more what becomes of the rest.
      if (!isOpen.current) break
      setProgress(`Part ${at + 1} of ${texts.length} …`)
      const sent = await ask(csv)
      if ('refusal' in sent) return { rows, refusal: sent.refusal }
      const before = rows.length
      rows.push(...sent.made.rows.map((row) => ({ ...row, row: row.row + before })))
    }
    return { rows, refusal: rows.length === 0 ? 'The file has no rows.' : '' }
  }

  async function look(file: File | undefined): Promise<void> {
    setSeen(undefined)
    setMade(undefined)
    if (file === undefined) return
    const text = file.size > fileBytesMax ? null : textOf(await file.arrayBuffer())
    if (text === undefined) {
      setSeen({ rows: [], refusal: 'The file isn’t text in UTF-8. Excel saves such files as “CSV UTF-8”.' })
      return
    }
    const texts = text === null ? null : portionsOf(text)
    if (texts === null) {
      setSeen({ rows: [], refusal: `A file has at most ${number(fileRowsMax)} rows and 32 MiB.` })
      return
    }
    const taken = await takeAll(texts, (csv) => fetchOnce('/links/import/preview', { csv }))
    setPortions(texts)
    setProgress('')
    setSeen(taken)
  }

  async function makeAll(): Promise<void> {
    setMaking(true)
    setMade(await takeAll(portions, (csv) => send('POST', '/links/import', { csv }, { withinMs })))
    setMaking(false)
    setProgress('')
  }

  const count = seen?.rows.filter(({ outcome }) => outcome === 'created').length ?? 0
  return (
    <Dialog title="Import links" close={close}>
      <p class="note">
        A CSV file that Bitly, Dub, Rebrandly or Short.io exported, or one with the columns destination_url, label and
        key. Short links keep their keys.
      </p>
      <label>
        File{' '}
        <input
          type="file"
          accept=".csv,text/csv"
          aria-disabled={progress !== ''}
          onClick={forgetChosen}
          onCancel={() => progress === '' && void look(undefined)}
          onChange={(event) => progress === '' && void look(event.currentTarget.files?.[0])}
        />
      </label>
      <p role="status" class={progress === '' ? 'unseen' : ''}>
        {progress}
      </p>
      {isMaking && <AskBeforeStop />}
      {progress === '' && seen !== undefined && (
        <>
          <Refusal text={(made ?? seen).refusal} />
          <Rows rows={(made ?? seen).rows} isMade={made !== undefined} />
          {made === undefined && seen.refusal === '' && count > 0 && (
            <button type="button" onClick={() => void makeAll()}>
              Make {number(count)} {count === 1 ? 'link' : 'links'}
            </button>
          )}
        </>
      )}
    </Dialog>
  )
}

const stopping = 'Stop the import? The part under way is still made. The same file makes the rest later.'

function AskBeforeStop() {
  useUnsaved(true, { keptAt: undefined, question: stopping })
  return null
}

function Rows({ rows, isMade }: { readonly rows: readonly ImportedRow[]; readonly isMade: boolean }) {
  const of = (wanted: ImportedRow['outcome']) => rows.filter(({ outcome }) => outcome === wanted)
  const names = { ...outcomes, ...(isMade && { created: 'Made' }) }
  const shown = order.flatMap(of).slice(0, rowsShown)
  return (
    <>
      <p role="status">{order.map((outcome) => `${names[outcome]}: ${number(of(outcome).length)}`).join(' · ')}</p>
      <ul aria-label="Rows">
        {shown.map(({ row, outcome, label, key, destination_url: url, reason }) => (
          <li key={row} class="event">
            <span class={outcome === 'refused' ? 'bad' : 'label'}>
              {row}: {names[outcome]}
            </span>
            <span class="name">
              <bdi>{label}</bdi> <bdi class="label">{reason ?? `${key ?? ''} ${url}`}</bdi>
            </span>
          </li>
        ))}
      </ul>
      {rows.length > shown.length && <p class="note">And {number(rows.length - shown.length)} more rows.</p>}
    </>
  )
}
