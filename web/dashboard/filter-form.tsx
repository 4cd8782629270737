/** A filter by hand: any property, exactly or with `*` for any text. */
import { type Filter, type FilterName, filterNames } from './address.ts'
import { Dialog } from './dialog.tsx'

interface FilterFormProps {
  add(filter: Filter): void
  close(): void
}

export function FilterForm({ add, close }: FilterFormProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    // A star stays what it is: any text.
    const text = String(data.get('value')).replace(/[\\!]/g, '\\$&')
    add({ name: data.get('name') as FilterName, value: (data.get('sense') === 'not' ? '!' : '') + text })
    close()
  }
  return (
    <Dialog title="Add a filter" close={close}>
      <form class="controls" onSubmit={submit}>
        <select name="name" aria-label="Property">
          {filterNames.map((name) => (
            <option key={name} value={name}>
              {name.replace('_', ' ')}
            </option>
          ))}
        </select>
        <select name="sense" aria-label="Is or is not">
          <option value="is">is</option>
          <option value="not">is not</option>
        </select>
        <input name="value" aria-label="Value; * matches any text" placeholder="/blog/*" required maxLength={1000} />
        <button type="submit">Filter</button>
      </form>
      <p class="note">Write countries as two letters, such as DE. A channel or device must be one that exists.</p>
    </Dialog>
  )
}
