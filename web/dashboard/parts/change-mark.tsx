/** How a figure changed against the other period, in per cent: green where that is good. */
import { changeText } from './format.ts'

interface ChangeProps {
  /** Undefined: one of the two is too small to tell. */
  readonly changed: number | undefined
  readonly isLessBetter?: boolean
}

export function ChangeMark({ changed, isLessBetter = false }: ChangeProps) {
  if (changed === undefined) {
    return (
      <span class="change" title="Too few to compare">
        –
      </span>
    )
  }
  const tone = changed === 0 ? '' : changed > 0 !== isLessBetter ? 'good' : 'bad'
  return <span class={`change ${tone}`}>{changeText(changed)}</span>
}
