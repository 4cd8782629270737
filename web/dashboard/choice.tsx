/** A choice of one out of a few. */
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
