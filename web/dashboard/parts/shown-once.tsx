/** Secrets that were made on this page: each is shown once. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Sent } from '../requests/query.ts'
import { Copy } from './copy.tsx'

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
