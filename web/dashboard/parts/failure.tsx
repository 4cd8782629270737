/** Why a page or a change has no answer. */
import type { ComponentChildren } from 'preact'
import type { Failed } from '../requests/query.ts'
import { clockTime } from './format.ts'
import { Isolated } from './isolated.tsx'

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
