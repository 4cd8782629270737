/** The week's posting times, by which `svc.queue_post` goes. */
import type { z } from 'zod'
import { type FreeTimes, readFreeTimes } from '../../../authoring/posts/free-times.ts'
import { replacePostingTimes } from '../../../postgres/tables/posts/posting-times.ts'
import { lockWorkspace } from '../../../postgres/tables/workspaces/workspaces.ts'
import { PostingTimes, PostingTimesUpdate } from '../../../schemas/resources/posting-times.ts'
import type { WeeklyTime } from '../../../schemas/time/weekly-times.ts'
import { defineOperation } from '../define.ts'

export const readPostingTimes = defineOperation({
  name: 'posting_times.get',
  http: { method: 'GET', path: '/v1/posting-times' },
  tool: 'svc.get_posting_times',
  toolset: 'publishing',
  summary: 'Get the weekly posting times, and which of the next ones are free.',
  tag: 'Posts',
  effect: 'read',
  scope: 'posts:read',
  input: {},
  output: PostingTimes,
  handle: async ({ workspace, clock, stores: { pg } }) => serialize(await readFreeTimes(pg, workspace, clock.now())),
})

export const updatePostingTimes = defineOperation({
  name: 'posting_times.update',
  http: { method: 'PATCH', path: '/v1/posting-times' },
  tool: 'svc.update_posting_times',
  toolset: 'publishing',
  summary: 'Replace the weekly posting times.',
  description: 'Repeats are dropped. Posts that are scheduled stay where they are.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  publishes: true,
  input: { body: PostingTimesUpdate },
  output: PostingTimes,
  async handle({ body, workspace, clock, stores: { pg } }) {
    await lockWorkspace(pg, workspace.id)
    await replacePostingTimes(
      pg,
      workspace.id,
      body.times.map(({ weekday, time }) => ({ weekday, minute: minuteOf(time) })),
    )
    return serialize(await readFreeTimes(pg, workspace, clock.now()))
  },
})

function serialize({ times, free }: FreeTimes): z.output<typeof PostingTimes> {
  return {
    times: times.map(({ weekday, minute }: WeeklyTime) => ({ weekday, time: timeOf(minute) })),
    free: free.map((at) => at.toISOString()),
  }
}

function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
}

function timeOf(minute: number): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  return `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}`
}
