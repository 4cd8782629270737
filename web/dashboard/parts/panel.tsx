/** A section of a page, named by its heading. */
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useRef } from 'preact/hooks'
import type { Failed } from '../requests/query.ts'
import { Failure, Refusal } from './failure.tsx'
import { Steady } from './steady.tsx'

interface PanelProps {
  readonly title: string
  /** Small, beside the title. */
  readonly label?: string
  /** The button beside the title, for whoever may. */
  readonly action?: readonly [text: string, act: () => void] | false | undefined
  readonly failure?: Failed | undefined
  /** Why the last change was refused. */
  readonly refusal?: string
  /** Another answer is awaited. */
  readonly isBusy?: boolean
  /** No answer came yet. In a section, what stands below is shown once this has its size. */
  readonly isComing?: boolean
  readonly children: ComponentChildren
}

export function Panel({ title, label, action, failure, refusal = '', isBusy, isComing, children }: PanelProps) {
  const place = useRef<HTMLElement>(null)
  return (
    <Steady isComing={isComing} place={place}>
      <section ref={place} class={isComing ? 'panel coming' : 'panel'} aria-label={title} aria-busy={isBusy}>
        <PanelTitle>
          {title}
          {label && <span class="label">{label}</span>}
          {action && (
            <button type="button" onClick={action[1]}>
              {action[0]}
            </button>
          )}
        </PanelTitle>
        {failure && <Failure {...failure} />}
        <Refusal text={refusal} />
        {children}
      </section>
    </Steady>
  )
}

/** Whether panels stand in sections that have a heading each. */
export const InSection = createContext(false)

/** The heading of a panel: one level below that of its section. */
export function PanelTitle({ children }: { children: ComponentChildren }) {
  const Heading = useContext(InSection) ? 'h3' : 'h2'
  return <Heading class="panel-title">{children}</Heading>
}
