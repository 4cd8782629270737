/** A choice of one out of a few. */

/**
 * Opens the list by the keys that would change its value while it is closed: for lists whose value acts at once, so that
 * nothing on the way to it does.
 */
export function openByKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, currentTarget } = event
  const list = currentTarget as HTMLSelectElement
  const isTyped = key.length === 1 && key !== ' '
  const isChange = isTyped || /^(Arrow|Page|Home|End)/.test(key)
  if (!isChange || ctrlKey || metaKey || altKey || !CSS.supports('selector(:open)') || list.matches(':open')) return
  event.preventDefault()
  list.showPicker()
}

interface ChoiceProps<Key extends string> {
  readonly label: string
  /** Names of what is to choose from, in order. */
  readonly options: Readonly<Partial<Record<Key, string>>>
  readonly chosen: Key
  choose(key: Key): void
}

export function Choice<Key extends string>({ label, options, chosen, choose }: ChoiceProps<Key>) {
  return (
    <select aria-label={label} value={chosen} onChange={({ currentTarget: { value } }) => choose(value as Key)}>
      {Object.entries<string | undefined>(options).map(([key, name]) => (
        <option key={key} value={key}>
          {name}
        </option>
      ))}
    </select>
  )
}
