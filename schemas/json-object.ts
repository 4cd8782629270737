/** Whether a value of JSON is an object, and neither a list nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object, or the entries of a list; none of anything else. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Whether a sender meant no members. An empty list is how PHP writes an object without any. */
export function isNothing(value: unknown): boolean {
  return value == null || (Array.isArray(value) && value.length === 0)
}
