import { useState } from 'preact/hooks'

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
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  // Inside of an open dialog, as nothing else can be focused then.
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  // Selecting the field took the focus.
  if (before instanceof HTMLElement) before.focus()
  if (!isCopied) throw new Error('the browser copies nothing')
}
