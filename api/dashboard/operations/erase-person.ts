/** Erases a person as `svc people erase` does: what Postgres has goes at once, events with the pipeline's next rounds. */
import { z } from 'zod'
import { findErasedPerson } from '../../../postgres/tables/erased-person.ts'
import { erasePerson } from '../../../postgres/tables/erasures.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { idInBody } from '../../../schemas/lax.ts'
import { identifierLengthMax } from '../../../schemas/limits/core-limits.ts'
import { defineOperation } from '../../operations/define.ts'
import { visitorOfName } from '../../operations/people/serialize.ts'

const PersonToErase = z.object({
  contact_id: idInBody('contact').optional(),
  anonymous_id: z.string().min(1).max(identifierLengthMax).optional(),
})

/** `id` is the contact's, null of a browser. */
const Erasure = z.object({ id: z.int().nullable(), erasure_id: z.int() })

export const eraseThisPerson = defineOperation({
  name: 'contact.erase',
  http: { method: 'POST', path: '/v1/people/erase' },
  summary: 'Remove a person everywhere.',
  tag: 'People',
  effect: 'delete',
  scope: 'analytics:read',
  input: { body: PersonToErase },
  output: Erasure,
  problems: ['person_not_found'],
  async handle({ body, workspace, stores: { pg, hashes } }) {
    const { contact_id: id, anonymous_id: anonymousId } = body
    if ((id === undefined) === (anonymousId === undefined)) {
      throw invalid([valueError(['body'], null, 'Exactly one of contact_id and anonymous_id is needed')])
    }
    const named = id === undefined ? { anonymousId: anonymousId! } : { id }
    const found = await findErasedPerson(pg, workspace.id, named, hashes)
    if (found === undefined || 'boundTo' in found) throw problem('person_not_found')
    // A visitor without an id of its own is shown by the name of its hash.
    const visitor = anonymousId === undefined ? undefined : visitorOfName(anonymousId)
    const person =
      visitor === undefined
        ? found
        : { ...found, browsers: [{ visitor, fromAt: 0, fromId: 0, toAt: null, toId: null }] }
    return { id: person.contactId, erasure_id: await erasePerson(pg, person) }
  },
})
