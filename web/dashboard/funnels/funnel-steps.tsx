/** The steps of a funnel, put together: pages and events, with suggestions of what the range has. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { funnelStepsMax, funnelStepsMin } from '../../../schemas/limits/overview-limits.ts'
import { Choice } from '../parts/choice.tsx'
import type { View } from '../view/address.ts'
import { type FunnelView, type Step, stepKinds, typedValue, withinLabel, withins } from './funnel-address.ts'
import { Suggestions } from './suggestions.tsx'

interface FunnelStepsProps {
  readonly view: View
  readonly funnel: FunnelView
  change(funnel: FunnelView): void
}

const isFilled = ({ value }: Step) => value !== ''

/** With empty ones up to the fewest that there can be. */
function atLeast(steps: readonly Step[]): readonly Step[] {
  const missing = Math.max(0, funnelStepsMin - steps.length)
  return [...steps, ...Array.from({ length: missing }, (): Step => ({ kind: 'path', value: '' }))]
}

export function FunnelSteps({ view, funnel, change }: FunnelStepsProps) {
  const [steps, setSteps] = useState(() => atLeast(funnel.steps))
  const isAdded = useRef(false)
  /** A step that was just added is written next. */
  const focusAdded = (field: HTMLInputElement | null) => {
    if (field === null || !isAdded.current) return
    isAdded.current = false
    field.focus()
  }
  const add = () => {
    isAdded.current = true
    setSteps([...steps, { kind: 'event', value: '' }])
  }
  const inAddress = JSON.stringify(funnel.steps)
  // Back and shared addresses bring other steps; what isn't filled in yet stays otherwise.
  const written = useRef(inAddress)
  useEffect(() => {
    if (written.current !== inAddress) setSteps(atLeast(funnel.steps))
    written.current = inAddress
  }, [inAddress])
  const put = (next: readonly Step[]) => {
    setSteps(atLeast(next))
    const filled = next.filter(isFilled)
    written.current = JSON.stringify(filled)
    if (written.current !== inAddress) change({ ...funnel, steps: filled })
  }
  const set = (at: number, step: Step) => put(steps.map((one, place) => (place === at ? step : one)))
  // A text that is being typed outlives whatever else the page shows meanwhile.
  const type = (at: number, step: Step) => setSteps(steps.map((one, place) => (place === at ? step : one)))
  const swap = (at: number) => put([...steps.slice(0, at - 1), steps[at]!, steps[at - 1]!, ...steps.slice(at + 1)])
  const remove = (at: number) => put(steps.filter((_, place) => place !== at))
  return (
    <form class="panel funnel-steps" aria-label="Steps" onSubmit={(event) => event.preventDefault()}>
      <Suggestions view={view} />
      <ol>
        {steps.map(({ kind, value }, at) => (
          <li key={at} class="controls">
            <Choice
              label={`Kind of step ${at + 1}`}
              options={stepKinds}
              chosen={kind}
              choose={(next) => set(at, { kind: next, value: '' })}
            />
            <input
              ref={at === steps.length - 1 ? focusAdded : null}
              aria-label={`Step ${at + 1}; * matches any text`}
              placeholder={kind === 'path' ? '/pricing or /blog/*' : 'signup'}
              list={`suggested-${kind}`}
              maxLength={2048}
              autocapitalize="none"
              value={value}
              onInput={(event) => type(at, { kind, value: event.currentTarget.value })}
              onChange={(event) => set(at, { kind, value: typedValue(event.currentTarget.value) })}
            />
            <button
              type="button"
              aria-label={`Move step ${at + 1} up`}
              aria-disabled={at === 0}
              onClick={() => swap(at)}
            >
              ↑
            </button>
            <button
              type="button"
              aria-label={`Remove step ${at + 1}`}
              aria-disabled={steps.length <= funnelStepsMin && !isFilled({ kind, value })}
              onClick={() => remove(at)}
            >
              ×
            </button>
          </li>
        ))}
      </ol>
      <div class="controls">
        <button type="button" aria-disabled={steps.length >= funnelStepsMax} onClick={add}>
          Add a step
        </button>
        <select
          aria-label="Time for all steps"
          value={funnel.within}
          onChange={(event) => change({ ...funnel, within: event.currentTarget.value })}
        >
          {[...new Set([...Object.keys(withins), funnel.within])].map((within) => (
            <option key={within} value={within}>
              {withinLabel(within)}
            </option>
          ))}
        </select>
      </div>
    </form>
  )
}
