/** Range, comparison and filters of a page, which stand in its address. */
import type { ComponentChildren } from 'preact'
import type { FilterName } from '../../../schemas/reference/filter-names.ts'
import { namelessOf } from '../overview/list-kinds.ts'
import { Choice } from '../parts/choice.tsx'
import { daysInWords } from '../parts/format.ts'
import {
  comparisons,
  type Filter,
  type RangeKey,
  rangeKeys,
  ranges,
  shownValue,
  type View,
  withoutFilter,
} from './address.ts'
import { countryName } from './filter-values.ts'

interface ViewControlsProps {
  readonly view: View
  readonly timezone: string
  /** Whether the page compares with another period. */
  readonly isCompared?: boolean
  /** The name of the page's own range, while the address has none. */
  readonly ownRange?: string | undefined
  /** Whether filters change the page. */
  readonly isFiltered?: boolean
  /** Before the filters. */
  readonly children?: ComponentChildren
  go(view: View): void
  openFilter(): void
  openCalendar(): void
  openSaved?(): void
}

export function ViewControls(props: ViewControlsProps) {
  const {
    view,
    go,
    openFilter,
    openCalendar,
    openSaved,
    timezone,
    isCompared = false,
    ownRange,
    isFiltered = true,
    children,
  } = props
  const shownRange = view.days === null ? ownRange : daysInWords(view.days)
  return (
    <div class="controls">
      {children}
      {isFiltered && (
        <>
          <ul class="chips" aria-label="Filters">
            {view.filters.map(({ name, value }, at) => (
              <li key={`${name} ${value}`}>
                <button type="button" onClick={() => go(withoutFilter(view, at))} title="Remove this filter">
                  <FilterText name={name} value={value} /> ×
                </button>
              </li>
            ))}
          </ul>
          <button type="button" onClick={openFilter}>
            Filter
          </button>
          {openSaved && (
            <button type="button" onClick={openSaved}>
              Saved views
            </button>
          )}
        </>
      )}
      <span class="range">
        <select
          aria-label={`Range, in ${timezone}`}
          value={shownRange === undefined ? view.range : ''}
          onChange={(event) => go({ ...view, days: null, range: event.currentTarget.value as RangeKey })}
        >
          {shownRange !== undefined && <option value="">{shownRange}</option>}
          {rangeKeys.map((key) => (
            <option key={key} value={key}>
              {ranges[key].name}
            </option>
          ))}
        </select>
        <span class="label">{timezone}</span>
      </span>
      <button type="button" onClick={openCalendar}>
        Choose days
      </button>
      {isCompared && (
        <Choice
          label="Comparison"
          options={comparisons}
          chosen={view.compare}
          choose={(compare) => go({ ...view, compare })}
        />
      )}
    </div>
  )
}

export function FilterText({ name, value }: Filter) {
  return (
    <>
      {name.replace('_', ' ')}: <bdi>{shownValue(value, (text) => nameOf(name, text))}</bdi>
    </>
  )
}

function nameOf(filter: FilterName, value: string): string {
  return (filter === 'country' ? countryName(value) : value) || namelessOf(filter)
}
