import { fold } from '../../pipeline/fold/fold.ts'
import { whileLeased } from '../../pipeline/fold/lease.ts'
import { ErasureError, eraseNext } from '../../pipeline/people/erase.ts'
import {
  type NamedPerson,
  type OrderedErasure,
  orderErasure,
  shortenInbox,
} from '../../pipeline/people/order-erasure.ts'
import type { BoundBrowser } from '../../postgres/tables/people/erased-person.ts'
import { readErasure } from '../../postgres/tables/people/erasures.ts'
import { makeIdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import { makeLog } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { identifierLengthMax } from '../../schemas/limits/event-limits.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, type OptionValues, UsageError, workspaceOption } from '../command.ts'

const pauseMs = 200

export const erasePeople = defineCommand({
  name: 'people erase',
  summary: 'Remove a person everywhere: contact, browsers, events, and every copy. It can not be undone.',
  options: {
    workspace: workspaceOption,
    email: { value: 'EMAIL', meaning: 'The person of this e-mail.' },
    contact: { value: 'ID', meaning: 'The contact of this id.' },
    'anonymous-id': { value: 'ID', meaning: 'The browser of this id, where it is no known person’s.' },
  },
  async run({ options, installation, progress, signal }) {
    const named = nameIn(options)
    const { id: workspaceId } = await installation.workspace(options.id('workspace'))
    const secretKey = await installation.secretKey()
    if (secretKey === undefined) throw new CommandFailed('SECRET_KEY is needed to find what events have of a person')
    const [pg, ch] = [installation.postgres(), await installation.answeringClickhouse()]
    const hashes = makeIdentityHashes(secretKey)
    const erasure = { ch, hashes, log: makeLog('svc', 'silent'), now: Date.now() }
    progress.running('merging what was sent before')
    await shortenInbox(pg, erasure, signal)
    const id = await pg.transaction(async (tx) => {
      const { erasureId, contactId, browsers } = orderedOf(await orderErasure(tx, workspaceId, named, erasure))
      // Without the address: the log of changes is never deleted.
      await auditCommand(tx, workspaceId, 'contact.erase', contactId, { browsers })
      return erasureId
    })
    for (;;) {
      const erasure = await readErasure(pg, id)
      if (erasure === undefined || erasure.events !== null) {
        return { workspace_id: workspaceId, erasure_id: id, events: erasure?.events ?? 0 }
      }
      signal.throwIfAborted()
      progress.running('waiting until all that was sent before is stored, and removing it')
      await whileLeased(pg, ch, signal, async (work) => {
        if (!(await fold(work)).isAllTaken) return
        await eraseNext(work, Date.now()).catch((error: unknown) => {
          if (!(error instanceof ErasureError)) throw error
          // That of somebody else gives way to this one.
          if (error.erasureId === id) throw error.cause
        })
      })
      await sleep(pauseMs, signal)
    }
  },
  show: ({ events }) => `the person was erased (events: ${events})`,
})

function nameIn(options: OptionValues): NamedPerson {
  const email = options.email('email')
  const id = options.id('contact', Number.MAX_SAFE_INTEGER)
  const anonymousId = options.text('anonymous-id', identifierLengthMax)
  const given: NamedPerson[] = [
    ...(email === undefined ? [] : [{ email }]),
    ...(id === undefined ? [] : [{ id }]),
    ...(anonymousId === undefined ? [] : [{ anonymousId }]),
  ]
  if (given.length !== 1) throw new UsageError('exactly one of --email, --contact and --anonymous-id is needed')
  return given[0]!
}

/** @throws CommandFailed where nobody is to be erased by that name */
function orderedOf(order: OrderedErasure | BoundBrowser | undefined): OrderedErasure {
  if (order === undefined) throw new CommandFailed('nobody is known by that name in the workspace')
  if ('boundTo' in order) {
    throw new CommandFailed(`the browser is that of contact ${order.boundTo}: erase it by --contact`)
  }
  return order
}
