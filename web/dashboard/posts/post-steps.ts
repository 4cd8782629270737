/** Calls about a post that belong together, such as those that take a schedule back. */

import { type Sent, send } from '../requests/query.ts'
import { serverNow } from '../requests/request.ts'
import type { Post } from './post-draft.ts'

/** One call about a post. */
export type Step = readonly [method: 'POST' | 'PATCH', path: string, body?: object]

/** One after another, each for the post as the one before left it, until one is refused. @returns the outcome of the last call */
export async function takeSteps(
  { id, updated_at }: Pick<Post, 'id' | 'updated_at'>,
  [first, ...others]: readonly [Step, ...Step[]],
): Promise<Sent<Post>> {
  const [method, path, body] = first
  const sent = await send<Post>(method, `/posts/${id}${path}`, { ...body, updated_at })
  const [next, ...rest] = others
  return 'refusal' in sent || next === undefined ? sent : takeSteps(sent.made, [next, ...rest])
}

/** Makes a draft of a scheduled post again. The time that it was to go out at is gone once it isn't scheduled any more. */
export function stepsToDraft({ scheduled_at }: Post): [Step, ...Step[]] {
  return [['POST', '/unschedule'], ...(scheduled_at ? [['PATCH', '', { scheduled_at }] as const] : [])]
}

/** Long enough to take the schedule back, whatever is in the way. */
const farMs = 365 * 86_400_000

/** Makes a draft of a post that failed: the API takes back the schedule of a post alone, so it gets one that is far away. */
export function stepsFromFailed(): Step[] {
  const scheduled_at = new Date(serverNow() + farMs).toISOString()
  return [
    ['POST', '/reschedule', { scheduled_at }],
    ['POST', '/unschedule'],
  ]
}
