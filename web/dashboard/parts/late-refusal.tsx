/** Shows a refusal whose form was closed before the answer came. It stays over the page until somebody closes it. */
import { useLayoutEffect, useState } from 'preact/hooks'
import { Refusal } from './failure.tsx'

let show = (_text: string) => {}

/** @param title of the form */
export function tellLateRefusal(title: string, refusal: string): void {
  if (refusal !== '') show(`${title}: ${refusal}`)
}

export function LateRefusal() {
  const [text, setText] = useState('')
  useLayoutEffect(() => {
    // A refusal that isn't closed yet stays, and the next one is appended.
    show = (next) => setText((before) => (before.includes(next) ? before : before === '' ? next : `${before}. ${next}`))
  }, [])
  if (text === '') return null
  return (
    <div class="late">
      <Refusal text={text} />
      <button type="button" onClick={() => setText('')}>
        Close
      </button>
    </div>
  )
}
