/**
 * The merge: from identity facts to whose a browser's events are. A pure function of the set of facts: their order and
 * repeats change nothing (docs/people.md).
 *
 * - The first fact of a browser gives its contact all events before it; a later one with another contact begins that
 *   contact's binding period. So a shared browser fuses no two contacts.
 * - Facts behind a browser's first binding periods are forgotten before this: forgetFurtherFacts, in
 *   postgres/tables/people/bindings.ts.
 * - A contact binds the browsers with the earliest first facts, `max` at most. Facts of the others bind nothing.
 *
 * Held by test/property/people.test.ts, against a model written apart.
 */

/** An identify or conversion that named a browser and a contact. The id orders facts of one moment. */
export interface IdentityFact {
  readonly anonymousId: string
  readonly contactId: number
  readonly at: number
  readonly eventId: number
}

export type Moment = Pick<IdentityFact, 'at' | 'eventId'>

/** The browser's events from this moment and id on are the contact's. */
export interface BindingStart {
  readonly contactId: number
  readonly fromAt: number
  readonly fromId: number
}

/** By browser, in order of time; a browser that nobody binds is not there. */
export function bindBrowsers(facts: Iterable<IdentityFact>, max: number): Map<string, BindingStart[]> {
  const ordered = [...facts].sort(byMoment)
  const bound = browsersOfContacts(ordered, max)
  const bindings = new Map<string, BindingStart[]>()
  for (const { anonymousId, contactId, at, eventId } of ordered) {
    if (!bound.get(contactId)!.has(anonymousId)) continue
    const starts = bindings.get(anonymousId)
    if (starts === undefined) bindings.set(anonymousId, [{ contactId, fromAt: 0, fromId: 0 }])
    else if (starts.at(-1)!.contactId !== contactId) starts.push({ contactId, fromAt: at, fromId: eventId })
  }
  return bindings
}

/** @param ordered the first fact of a browser and contact comes before the others */
function browsersOfContacts(ordered: readonly IdentityFact[], max: number): Map<number, Set<string>> {
  const browsers = new Map<number, Set<string>>()
  for (const { anonymousId, contactId } of ordered) {
    const known = browsers.get(contactId)
    if (known === undefined) browsers.set(contactId, new Set([anonymousId]))
    else if (known.size < max) known.add(anonymousId)
  }
  return browsers
}

/** By time; those of one moment by their ids. */
export function byMoment(a: Moment, b: Moment): number {
  return a.at - b.at || a.eventId - b.eventId
}
