/** Whether a value of JSON is an object, and neither a list nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object, or the entries of a list; none of anything else. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Whether a value stands for an empty object. PHP writes an empty object as an empty list. */
export function isEmptyOrMissing(value: unknown): boolean {
  return value == null || (Array.isArray(value) && value.length === 0)
}
