/** Why the last change of a part of the page was refused; '' where it wasn't. */
import { useState } from 'preact/hooks'
import { tellLateRefusal } from '../parts/late-refusal.tsx'
import { useIsOpen } from '../parts/use-is-open.ts'
import type { Sent } from './query.ts'

/** Where the part is gone before the answer, the refusal stands over the page. */
export function useRefusal() {
  const [refusal, setRefusal] = useState('')
  const isThere = useIsOpen()
  const done = (sent: Sent<unknown>) => {
    const text = 'refusal' in sent ? sent.refusal : ''
    if (isThere.current) setRefusal(text)
    else tellLateRefusal('Not done', text)
  }
  return { refusal, done }
}
