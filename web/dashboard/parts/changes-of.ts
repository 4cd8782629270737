/** The members of `now` that differ from what was there before: others may have changed the rest meanwhile. */
export function changesOf<Whole extends object>(now: Whole, before: Whole): Partial<Whole> {
  const isOther = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(before[name as keyof Whole])
  return Object.fromEntries(Object.entries(now).filter(isOther)) as Partial<Whole>
}
