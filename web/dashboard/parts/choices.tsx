interface ChoicesProps {
  readonly legend: string
  readonly name: string
  readonly values: readonly string[]
  /** How values are shown; one that isn't named stands itself. */
  readonly names?: Readonly<Record<string, string>>
  /** At first. */
  readonly chosen?: readonly string[]
}

/** Values of which any number can be chosen in a form. */
export function Choices({ legend, name, values, names = {}, chosen = [] }: ChoicesProps) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="event-types">
        {values.map((value) => (
          <label key={value} class="choice">
            <input type="checkbox" name={name} value={value} defaultChecked={chosen.includes(value)} />{' '}
            {names[value] ?? value}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
