/** Parts that several pages share. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Retention } from '../../../schemas/resources/retention.ts'
import type { Failed, Sent } from '../requests/query.ts'
import { addressOf } from '../shell/shared-page.ts'
import { clockTime, time } from './format.ts'

interface FailureProps extends Failed {
  /** It isn't tried again. */
  readonly isFinal?: boolean
  /** Leads on from what isn't there. */
  readonly children?: ComponentChildren
}

export function Failure({ since, text, isRefused, isMissing, isFinal = false, children }: FailureProps) {
  if (isMissing) {
    return (
      <p class="failure" role="alert">
        <Isolated text={text} />. {children}
      </p>
    )
  }
  if (isRefused) {
    return (
      <p class="failure" role="alert">
        There are no such figures: <Isolated text={text} />. Change the filters, the range or another choice.
      </p>
    )
  }
  return (
    <p class="failure" role="alert">
      Nothing new since {clockTime(since)}: <Isolated text={text} />.{!isFinal && ' The page tries again by itself.'}
    </p>
  )
}

/** Says so where a range of the overview, or of retention, begins before what is kept. */
export function KeptFrom({ range: { start, timezone }, readable_from }: Pick<Retention, 'range' | 'readable_from'>) {
  if (start >= readable_from) return null
  return (
    <p class="note">
      No figures are kept from before {time(readable_from, timezone)}: the plan, or a shorter retention of the
      workspace, says so.
    </p>
  )
}

interface PageLinkProps {
  readonly path: string
  readonly isCurrent?: boolean
  readonly children: ComponentChildren
  navigate(path: string): void
}

/** A link to a page of the dashboard, which is shown without loading anew; with a key held, in another tab or window. */
export function PageLink({ path, isCurrent = false, navigate, children }: PageLinkProps) {
  return (
    <a
      href={addressOf(path)}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => {
        if (opensElsewhere(event)) return
        event.preventDefault()
        navigate(path)
      }}
    >
      {children}
    </a>
  )
}

/** Whether the browser opens the clicked link in another tab or window. */
export function opensElsewhere({ metaKey, ctrlKey, shiftKey }: MouseEvent): boolean {
  return metaKey || ctrlKey || shiftKey
}

/** Why a change was refused; nothing where it wasn't. */
export function Refusal({ text }: { text: string }) {
  if (text === '') return null
  return (
    <p class="failure" role="alert">
      <bdi>
        <Isolated text={text} />
      </bdi>
    </p>
  )
}

const direction = /[\u202A-\u202E\u2066-\u2069]/

/** A sentence with stored names in it: a mark that turns the direction of writing turns its own word alone. */
export function Isolated({ text }: { text: string }) {
  if (!direction.test(text)) return <>{text}</>
  return <>{text.split(/(\s+)/).map((word) => (direction.test(word) ? <bdi>{word}</bdi> : word))}</>
}

interface CopyProps {
  readonly text: string
  readonly label?: string
  /** Tells it from others beside it: `the snippet`. */
  readonly of?: string
}

/** Copies a text, and says so. */
export function Copy({ text, label = 'Copy', of }: CopyProps) {
  // Another text isn't copied yet.
  const [copied, setCopied] = useState<string>()
  const copy = () =>
    void copyText(text).then(
      () => setCopied(text),
      () => setCopied(undefined),
    )
  return (
    <button type="button" onClick={copy}>
      {copied === text ? 'Copied' : label}
      {of && (
        <span class="unseen">
          {' '}
          <bdi>{of}</bdi>
        </span>
      )}
    </button>
  )
}

/** Pages that come without TLS, from another machine, have no `navigator.clipboard`. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  // Inside of an open dialog, as nothing else can be focused then.
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (!isCopied) throw new Error('the browser copies nothing')
}

/** A secret that was made just now, with a button that copies it. Nobody sees it again. */
export function ShownOnce({ secret, name, children }: { secret: string; name: string; children: ComponentChildren }) {
  return (
    <div class="copied" role="status">
      <p class="wide">{children} It is shown only once:</p>
      <pre>{secret}</pre>
      <Copy text={secret} label={`Copy the ${name}`} />
    </div>
  )
}

/** Whatever was made on this page with a secret, newest first. Nobody needs the secret of one that was ended. */
export function useMade<Made extends { readonly id: number }>() {
  const [made, setMade] = useState<readonly Made[]>([])
  const add = (one: Made) => setMade((before) => [one, ...before])
  /** @param sent the outcome: one whose end was refused stays */
  const end = (id: number, sent: Sent<unknown>) => {
    if (!('refusal' in sent)) setMade((before) => before.filter((one) => one.id !== id))
  }
  return { made, add, end }
}

/** The fields of a form as text. One that stays open is emptied only if it still holds what was sent: the next may be begun. */
export function writtenIn(form: HTMLFormElement): string {
  return JSON.stringify([...new FormData(form)])
}

interface ChoicesProps {
  readonly legend: string
  readonly name: string
  readonly values: readonly string[]
  /** How values are shown; one that isn't named stands itself. */
  readonly names?: Readonly<Record<string, string>>
  /** At first. */
  readonly chosen?: readonly string[]
}

/** Values of which any number can be chosen in a form. */
export function Choices({ legend, name, values, names = {}, chosen = [] }: ChoicesProps) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="event-types">
        {values.map((value) => (
          <label key={value} class="choice">
            <input type="checkbox" name={name} value={value} defaultChecked={chosen.includes(value)} />{' '}
            {names[value] ?? value}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

interface ArchiveTabsProps {
  readonly title: string
  /** The address's query, which has the choice. */
  readonly search: string
  navigate(path: string): void
}

export function isArchive(search: string): boolean {
  return new URLSearchParams(search).get('status') === 'archived'
}

/** The address of the page with one parameter more, less or changed. @param search its query. @param value undefined: without it */
export function addressWith(search: string, name: string, value: string | undefined): string {
  const params = new URLSearchParams(search)
  params.delete(name)
  if (value !== undefined) params.set(name, value)
  return location.pathname + (params.size > 0 ? `?${params}` : '')
}

/** Chooses between what is in use and what was archived. */
export function ArchiveTabs({ title, search, navigate }: ArchiveTabsProps) {
  const choose = (status?: 'archived') => navigate(addressWith(search, 'status', status))
  return (
    <div class="tabs">
      <h2 class="unseen">{title}</h2>
      <button type="button" aria-pressed={!isArchive(search)} onClick={() => choose()}>
        {title}
      </button>
      <button type="button" aria-pressed={isArchive(search)} onClick={() => choose('archived')}>
        Archived
      </button>
      <span class="label">Newest first</span>
    </div>
  )
}

interface ChangeButtonsProps {
  /** The name of a row of a list. */
  readonly name: string
  readonly ends: 'Delete' | 'Remove'
  change(): void
  end(): void
}

export function ChangeButtons({ name, ends, change, end }: ChangeButtonsProps) {
  return (
    <>
      <button type="button" class="link" aria-label={`Change ${name}`} onClick={change}>
        ✎
      </button>
      <button type="button" class="link" aria-label={`${ends} ${name}`} onClick={end}>
        ×
      </button>
    </>
  )
}

/** Names with their numbers. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}
