/** Countries on a map, the darker the more visitors; each with visitors is a filter on click. */
import { useEffect, useState } from 'preact/hooks'
import type { FilterName } from '../../../schemas/reference/filter-names.ts'
import { number } from '../parts/format.ts'
import { opensElsewhere } from '../parts/page-link.tsx'
import { addressOf } from '../shell/shared-page.ts'
import { type Filter, filterOf, type View, withFilter, writeView } from '../view/address.ts'
import type { ListRow } from './list-kinds.ts'

interface MapProps {
  readonly rows: readonly ListRow[]
  readonly filter: FilterName
  readonly view: View
  add(filter: Filter): void
}

/** Drawn when it is first looked at, and kept. */
let drawn: Promise<Record<string, string>> | undefined

export function WorldMap({ rows, filter, view, add }: MapProps) {
  const [paths, setPaths] = useState<Record<string, string>>()
  const [focused, focusOn] = useState('')
  useEffect(() => {
    drawn ??= import('../../generated/world.json').then(({ default: world }) => world as Record<string, string>)
    drawn.then(setPaths, () => {
      // The next look asks again.
      drawn = undefined
    })
  }, [])
  const byCode = new Map(rows.map((row) => [row.key, row]))
  const labelOf = (code: string) => byCode.get(code)?.label ?? ''
  // By name, so that keys go on in an order that somebody knows. Those without visitors cover no mark of the focus.
  const outlines = Object.entries(paths ?? {}).sort(([one], [other]) => labelOf(one).localeCompare(labelOf(other)))
  const textOf = ({ label, figures }: ListRow) => `${label}: ${number(figures.visitors ?? 0)}`
  const shown = byCode.get(focused)
  const most = Math.max(1, ...rows.map(({ figures }) => figures.visitors ?? 0))
  return (
    <>
      <svg class="world" viewBox="0 0 960 420" aria-label="Map of visitors by country">
        {outlines.map(([code, path]) => {
          const row = byCode.get(code)
          const visitors = row?.figures.visitors ?? 0
          // By the root, so that small ones are seen beside a large one.
          const share = visitors === 0 ? 0 : 0.2 + 0.8 * Math.sqrt(visitors / most)
          const outline = (
            <path d={path} style={share === 0 ? undefined : { fill: 'var(--accent)', fillOpacity: share }} />
          )
          if (row === undefined) return <g key={code}>{outline}</g>
          const filterBy = (isNot: boolean) => filterOf(filter, code, isNot)
          return (
            <a
              key={code}
              href={addressOf(`/dashboard${writeView(withFilter(view, filterBy(false)))}`)}
              data-country={code}
              onFocus={() => focusOn(code)}
              onBlur={() => focusOn('')}
              onClick={(event) => {
                if (opensElsewhere(event)) return
                event.preventDefault()
                add(filterBy(event.altKey))
              }}
            >
              <title>{textOf(row)}</title>
              {outline}
            </a>
          )
        })}
      </svg>
      {/* A title is seen by the mouse alone. */}
      <p class="label map-focus" aria-hidden="true">
        {shown && textOf(shown)}
      </p>
    </>
  )
}
