/** What several pages have. */
import { useState } from 'preact/hooks'
import type { Failed } from './query.ts'

export function Failure({ since, text, isRefused }: Failed) {
  if (isRefused) {
    return (
      <p class="failure" role="alert">
        There are no such figures: <Isolated text={text} />. Take the filter off, or choose another range.
      </p>
    )
  }
  return (
    <p class="failure" role="alert">
      Nothing new since {since.toLocaleTimeString()}: <Isolated text={text} />. It is tried again every few seconds.
    </p>
  )
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

/** Copies a text, and says so. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  return (
    <button type="button" onClick={copy}>
      {isCopied ? 'Copied' : label}
    </button>
  )
}

/** Names with their numbers. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: string])[] }) {
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
