/** How requests and addresses name a person: by the contact, else by the browser. */
import type { Person } from '../../../schemas/resources/person.ts'

type Named = Pick<Person, 'contact_id' | 'anonymous_id'>

/** As the API and the page of replays read them. */
export function personParameters({ contact_id, anonymous_id }: Named): Record<string, string> {
  return contact_id === null ? { anonymous_id: anonymous_id ?? '' } : { contact_id: String(contact_id) }
}

/** Says which of the two it is: a site may name a browser as contacts are named. */
export function personAddress({ contact_id, anonymous_id }: Named): string {
  const who: Record<string, string> =
    contact_id === null ? { browser: anonymous_id ?? '' } : { contact: String(contact_id) }
  return `/dashboard/people?${new URLSearchParams(who)}`
}
