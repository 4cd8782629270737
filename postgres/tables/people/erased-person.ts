/** Finds the person to erase: a contact with the times of its browsers, or a browser without a contact. */
import type { Queryable } from '../../client.ts'
import { readBindingsOfContacts, readBindingsOfVisitors, type StoredBinding } from './bindings.ts'
import { findContact, readContactKeys } from './contacts.ts'
import type { ErasedBrowser, ErasedPerson } from './erasures.ts'

export type SoughtPerson =
  | { readonly email: string }
  | { readonly id: number }
  | { readonly anonymousId: string; readonly visitor: string }

/** The browser is a contact's, which is to be named instead. */
export interface BoundBrowser {
  readonly boundTo: number
}

/** @returns undefined where there is no such contact */
export async function findErasedPerson(
  tx: Queryable,
  workspaceId: number,
  sought: SoughtPerson,
): Promise<ErasedPerson | BoundBrowser | undefined> {
  if ('visitor' in sought) {
    const { anonymousId, visitor } = sought
    const bound = await readBindingsOfVisitors(tx, [{ workspaceId, visitor }])
    if (bound.length > 0) return { boundTo: bound.at(-1)!.contactId }
    const browsers = [{ visitor, fromAt: 0, fromId: 0, toAt: null, toId: null }]
    return {
      workspaceId,
      contactId: null,
      email: null,
      emailHash: null,
      anonymousIds: [anonymousId],
      browsers,
      sharedTimes: [],
    }
  }
  const contact = await findContact(tx, workspaceId, sought)
  if (contact === undefined) return undefined
  const bindings = await readBindingsOfContacts(tx, [contact.id])
  const [key] = await readContactKeys(tx, [contact.id])
  const others = new Set(bindings.filter(({ contactId }) => contactId !== contact.id).map((one) => one.anonymousId))
  const times = timesOf(bindings, contact.id)
  return {
    workspaceId,
    contactId: contact.id,
    email: contact.email,
    emailHash: key!.emailHash,
    anonymousIds: [...new Set(bindings.map(({ anonymousId }) => anonymousId))].filter((id) => !others.has(id)),
    browsers: times.map(({ anonymousId: _, ...time }) => time),
    sharedTimes: times.flatMap(({ visitor: _, ...time }) => (others.has(time.anonymousId) ? [time] : [])),
  }
}

/** @param bindings of whole browsers, in order of time within each */
function timesOf(bindings: readonly StoredBinding[], contactId: number): (ErasedBrowser & { anonymousId: string })[] {
  return bindings.flatMap((binding, at) => {
    if (binding.contactId !== contactId) return []
    const next = bindings[at + 1]
    const isSame = next?.anonymousId === binding.anonymousId
    const { anonymousId, visitor, fromAt, fromId } = binding
    return {
      anonymousId,
      visitor,
      fromAt,
      fromId,
      toAt: isSame ? next.fromAt : null,
      toId: isSame ? next.fromId : null,
    }
  })
}
