/** Goals, a funnel, a saved view and a note of the demo workspace. The made-up visits have the pages and events that these name. */
import { dayMs } from '../../schemas/time/time-zone.ts'
import type { CallContext, Operation } from '../operations/define.ts'
import { savedFunnelOperations } from '../operations/funnels/saved-funnels.ts'
import { goalOperations } from '../operations/goals/goals.ts'
import { createNote } from '../operations/notes/notes.ts'
import { segmentOperations } from '../operations/segments/segments.ts'
import { callOperation } from './call-operation.ts'

const goals = [
  { name: 'Newsletter', kind: 'event', value: 'newsletter_subscribed' },
  { name: 'Signed up', kind: 'event', value: 'signup' },
  { name: 'Saw the prices', kind: 'path', value: '/pricing' },
]
const funnel = { name: 'From the home page to the sign-up', steps: ['path:/', 'path:/pricing', 'path:/signup'] }
const view = { name: 'Newsletter readers', filters: { source: ['newsletter'] } }
const noteDaysAgo = 9

/** @param context of the demo workspace, within a transaction */
export async function fillSaved(context: CallContext): Promise<void> {
  for (const goal of goals) await callOperation(context, createOf(goalOperations), goal)
  await callOperation(context, createOf(savedFunnelOperations), funnel)
  await callOperation(context, createOf(segmentOperations), view)
  const day = new Date(context.clock.now() - noteDaysAgo * dayMs).toISOString().slice(0, 10)
  await callOperation(context, createNote, { day, text: 'Version 2.4 released' })
}

function createOf(operations: readonly Operation[]): Operation {
  return operations.find(({ effect }) => effect === 'create')!
}
