/** Erases a person as `svc people erase` does: what Postgres has goes at once, events with the pipeline's next rounds. */
import { z } from 'zod'
import { isInboxLong, orderErasure } from '../../../pipeline/people/order-erasure.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { idInBody } from '../../../schemas/lax.ts'
import { identifierLengthMax } from '../../../schemas/limits/event-limits.ts'
import { manageScope } from '../../../schemas/scopes.ts'
import { defineOperation } from '../../operations/define.ts'

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
  scope: manageScope,
  input: { body: PersonToErase },
  output: Erasure,
  problems: ['person_not_found', 'people_behind'],
  async handle({ body, workspace, stores: { pg, ch, hashes }, log, clock }) {
    const { contact_id: id, anonymous_id: anonymousId } = body
    if ((id === undefined) === (anonymousId === undefined)) {
      throw invalid([valueError(['body'], null, 'Exactly one of contact_id and anonymous_id is needed')])
    }
    const named = id === undefined ? { anonymousId: anonymousId! } : { id }
    if (await isInboxLong(pg)) throw problem('people_behind')
    const order = await orderErasure(pg, workspace.id, named, { ch, hashes, log, now: clock.now() })
    if (order === undefined || 'boundTo' in order) throw problem('person_not_found')
    return { id: order.contactId, erasure_id: order.erasureId }
  },
})
