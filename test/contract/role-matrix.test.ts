/** Each role of a member may do what its scopes say, over every operation: those of keys, and those of sessions alone. */
import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { idempotencyKeyLengthMax } from '../../schemas/limits/api-limits.ts'
import type { Role } from '../../schemas/roles.ts'
import { scopes } from '../../schemas/scopes.ts'
import { operationsOfSessions, setUpApi } from '../support/api.ts'
import { setUpMembers } from '../support/members.ts'

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
const { askAsEach } = setUpMembers({ stores, api })
const ofSessions = operationsOfSessions(stores)

let asks: Awaited<ReturnType<typeof askAsEach>>
beforeAll(async () => {
  asks = await askAsEach(mine)
})

const reads = ['workspace', 'profile', 'accounts', 'media', 'posts', 'links', 'analytics', 'replays'].map(
  (area) => `${area}:read`,
)
const drafts = ['media:write', 'posts:write', 'links:write']
const writes = [...drafts, 'profile:write', 'analytics:write', 'posts:publish']
const opened: Readonly<Record<Role, readonly string[]>> = {
  viewer: reads,
  contributor: [...reads, ...drafts],
  editor: [...reads, ...writes],
  admin: [...scopes, 'posts:publish', 'workspace:manage'],
  owner: [...scopes, 'posts:publish', 'workspace:manage', 'workspace:own'],
}

/** Scheduling, and what queues go by. */
const publishing = ['schedule', 'queue', 'reschedule', 'unschedule'].map((verb) => `post.${verb}`)
publishing.push('posting_times.update')

/** No row has it. */
const nowhere = '4000000000000'
const refusal = { status: 403, body: { detail: 'Your role in the workspace does not allow this' } }

test.each([...operations, ...ofSessions].map((operation) => [operation.name, operation] as const))(
  '%s is open to the roles with its scope, and closed to the others before its input is looked at',
  async (_, { name, http, scope, effect }) => {
    const path = http.path.slice('/v1'.length).replace(/\{\w+\}/g, nowhere)
    // A session that may is told what is wrong with the header: nothing is changed.
    const headers = effect === 'read' ? {} : { 'Idempotency-Key': 'a'.repeat(idempotencyKeyLengthMax + 1) }
    for (const [role, ask] of Object.entries(asks)) {
      const answer = await ask(http.method, path, undefined, headers)
      const needed = publishing.includes(name) ? [scope, 'posts:publish'] : [scope]
      if (needed.some((one) => !opened[role as Role].includes(one))) expect([role, answer]).toEqual([role, refusal])
      else if (effect === 'read') expect([200, 404, 422], `${role}: ${answer.status}`).toContain(answer.status)
      else expect([role, answer.status]).toEqual([role, 422])
    }
  },
)

test('operations of sessions need a scope that no key can have, but for these reads, for leaving and for own apps', () => {
  const ofKeys = (scope: string) => (scopes as readonly string[]).includes(scope)
  expect(operations.filter(({ scope }) => !ofKeys(scope))).toEqual([])
  expect(ofSessions.filter(({ scope }) => ofKeys(scope)).map(({ name, scope }) => [name, scope])).toEqual([
    ['connected_app.list', 'workspace:read'],
    ['connected_app.revoke', 'workspace:read'],
    ['workspace.list', 'workspace:read'],
    ['workspace.glance', 'workspace:read'],
    ['workspace.settings', 'workspace:read'],
    ['overview.read_lists', 'analytics:read'],
    ['feed.preview', 'posts:write'],
    ['member.leave', 'workspace:read'],
    ['social_account.list_checked', 'accounts:read'],
  ])
  const own = ofSessions.filter(({ scope }) => scope === 'workspace:own').map(({ name }) => name)
  expect(own).toEqual(['workspace.create', 'workspace.require_second_factor', 'workspace.fill_demo'])
})
