/** The numbers of a chart as a table: for those who don't see the chart at all times, for those without a mouse on request. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface ChartTableProps {
  readonly caption: string
  /** Head and body. */
  readonly children: ComponentChildren
}

export function ChartTable({ caption, children }: ChartTableProps) {
  const [isShown, show] = useState(false)
  const table = (
    <table class={isShown ? 'all' : ''}>
      <caption>{caption}</caption>
      {children}
    </table>
  )
  return (
    <>
      <button type="button" class="link" aria-pressed={isShown} onClick={() => show(!isShown)}>
        As a table
        <span class="unseen">
          : <bdi>{caption}</bdi>
        </span>
      </button>
      {isShown ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys too
        <section class="scrolled" aria-label={`${caption}, as a table`} tabIndex={0}>
          {table}
        </section>
      ) : (
        <div class="unseen">{table}</div>
      )}
    </>
  )
}
