/** A filter by hand: any property, by a value of its list, or by a text with `*` for any text. */
import { useState } from 'preact/hooks'
import { type FilterName, filterNames } from '../../../schemas/reference/filter-names.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/failure.tsx'
import type { Overview } from '../requests/answers.ts'
import { isShared } from '../shell/shared-page.ts'
import type { Filter } from './address.ts'
import { choices, countryCode, countryCodes, examples, listedValues } from './filter-values.ts'

interface FilterFormProps {
  /** The values of its lists are suggested. */
  readonly overview: Overview | undefined
  add(filter: Filter): void
  close(): void
}

export function FilterForm({ overview, add, close }: FilterFormProps) {
  const [name, setName] = useState<FilterName>(filterNames[0])
  const [refusal, setRefusal] = useState('')
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const text = String(data.get('value'))
    const value = name === 'country' ? countryCode(text) : text
    if (value === undefined) return setRefusal(`No country is called “${text}”. Write its English name or two letters.`)
    if (name === 'event_property' && !/^[^*:]+:/.test(value)) {
      return setRefusal('Write the property, a colon and the value: plan:pro.')
    }
    // A star stays what it is: any text.
    add({ name, value: (data.get('sense') === 'not' ? '!' : '') + value.replace(/[\\!]/g, '\\$&') })
    close()
  }
  const choose = (next: FilterName) => {
    setName(next)
    setRefusal('')
  }
  const chosenFrom = choices[name]
  return (
    <Dialog title="Add a filter" close={close}>
      <form class="controls" onSubmit={submit}>
        <select
          name="name"
          aria-label="Property"
          value={name}
          onChange={(event) => choose(event.currentTarget.value as FilterName)}
        >
          {filterNames.filter(isOffered).map((each) => (
            <option key={each} value={each}>
              {each.replace('_', ' ')}
            </option>
          ))}
        </select>
        <select name="sense" aria-label="Is or is not">
          <option value="is">is</option>
          <option value="not">is not</option>
        </select>
        {chosenFrom ? (
          <select key={name} name="value" aria-label="Value">
            {Object.entries(chosenFrom).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        ) : (
          <TextValue name={name} overview={overview} changed={() => setRefusal('')} />
        )}
        <button type="submit">Filter</button>
      </form>
      <Refusal text={refusal} />
      {!chosenFrom && name !== 'country' && <p class="note">* matches any text.</p>}
    </Dialog>
  )
}

/** Shared links have no figures by properties, whose values may name people. */
function isOffered(name: FilterName): boolean {
  return !isShared || name !== 'event_property'
}

interface TextValueProps extends Pick<FilterFormProps, 'overview'> {
  readonly name: FilterName
  changed(): void
}

function TextValue({ name, overview, changed }: TextValueProps) {
  const suggested = name === 'country' ? [...countryCodes().keys()] : listedValues(name, overview ?? {})
  return (
    <>
      <input
        name="value"
        aria-label={name === 'country' ? 'Country' : 'Value; * matches any text'}
        placeholder={examples[name]}
        list="filter-values"
        autoComplete="off"
        autocapitalize="none"
        required
        maxLength={1000}
        onInput={changed}
      />
      <datalist id="filter-values">
        {suggested.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </>
  )
}
