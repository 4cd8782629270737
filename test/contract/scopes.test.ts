import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { scopes } from '../../schemas/scopes.ts'

interface Rule {
  readonly methods: readonly string[]
  readonly path: RegExp
  /** Whole paths before those under a prefix. */
  readonly isExact: boolean
  readonly scope: string
}

const table = readFileSync(new URL('scopes-table.txt', import.meta.url), 'utf8')
/** Our own rows, as the table has none for these. */
const added = [
  '| GET /v1/posting-times · its mutations | posts:read · posts:write |',
  '| GET /v1/feeds · its mutations | posts:read · posts:write |',
  '| GET /v1/snippets · its mutations | posts:read · posts:write |',
  '| GET /v1/goals · its mutations | analytics:read · analytics:write |',
  '| GET /v1/domains · its mutations | links:read · links:write |',
  '| GET /v1/exclusions · its mutations | analytics:read · analytics:write |',
  '| GET /v1/notes · its mutations | analytics:read · analytics:write |',
  '| GET /v1/media/usage | media:read |',
  '| GET /v1/segments · its mutations | analytics:read · analytics:write |',
  '| GET /v1/funnels · its mutations | analytics:read · analytics:write |',
].join('\n')
/** Recordings show more than figures do, wherever they are read. */
const ofRecordings = '| GET /v1/analytics/click-map | replays:read |'
const ruled = (rows: string) => rulesOf(`| endpoint | scope |\n${rows}`)
const rules = [...ruled(ofRecordings), ...rulesOf(table), ...ruled(added)]

/** The rules of the table. A cell may hold several groups of endpoints, with as many scopes. */
function rulesOf(markdown: string): Rule[] {
  const rows = [...markdown.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].slice(1)
  return rows.flatMap(([, endpoints, needed]) => {
    const groups = endpoints!.split(' · ')
    const neededByGroup = needed!.split(' · ')
    return groups.flatMap((group, at) => rulesOfGroup(group, groups[0]!, neededByGroup[at]!))
  })
}

/** `GET /a, /b, POST /c`, `POST, DELETE /a`, `other POST, PATCH under /a`, `its mutations` (of the row's first path). */
function rulesOfGroup(group: string, rowsFirst: string, scope: string): Rule[] {
  if (group === 'its mutations') {
    const path = new RegExp(`^${/\/\S+/.exec(rowsFirst)![0]}(/|$)`)
    return [{ methods: ['POST', 'PATCH', 'DELETE'], path, isExact: false, scope }]
  }
  const isUnder = group.startsWith('other ')
  const found: Rule[] = []
  let methods: string[] = []
  let hasPath = false
  for (const word of group
    .replace(/^other /, '')
    .replace(' under', '')
    .split(/,? /)) {
    if (!word.startsWith('/')) {
      methods = hasPath ? [word] : [...methods, word]
      hasPath = false
      continue
    }
    hasPath = true
    const pattern = word
      .replaceAll('.', '\\.')
      .replace(/\{\w+\}/g, '\\{\\w+\\}')
      .replace('*', '.+')
    found.push({ methods, path: new RegExp(`^${pattern}${isUnder ? '(/|$)' : '$'}`), isExact: !isUnder, scope })
  }
  return found
}

function scopeOf(method: string, path: string): string | undefined {
  const matching = rules.filter((rule) => rule.methods.includes(method) && rule.path.test(path))
  const rule = matching.find(({ isExact }) => isExact) ?? matching[0]
  // One object of a list that the table names, and what is done to it, needs what the list needs.
  const above = (method === 'POST' ? /^(\/v1\/.+)\/[^/]+$/ : /^(.+)\/\{\w+\}$/).exec(path)?.[1]
  // Whoever may make one may change and delete it, where the table says nothing else.
  const asked = ['DELETE', 'PATCH'].includes(method) ? 'POST' : method
  return rule?.scope ?? (above === undefined ? undefined : scopeOf(asked, above))
}

test.each([
  ['POST', '/v1/posts/preview', 'posts:read'],
  ['POST', '/v1/posts/{post_id}/schedule', 'posts:write'],
  ['GET', '/v1/media/{media_id}/file', 'media:read'],
  ['POST', '/v1/links', 'links:write'],
  ['POST', '/v1/webhooks/deliveries/{delivery_id}/redeliver', 'webhooks:write'],
  ['GET', '/v1/analytics/conversions', 'analytics:read'],
  ['GET', '/v1/people/journey', 'analytics:read'],
  ['PATCH', '/v1/company-profile/sources', 'profile:write'],
  ['DELETE', '/v1/webhooks/{webhook_id}', 'webhooks:write'],
  ['GET', '/v1/links/{link_id}', 'links:read'],
  ['GET', '/v1/workspace/{workspace_id}/members', undefined],
  ['GET', '/v1/webhooks/deliveries', 'webhooks:read'],
  ['POST', '/v1/workspace', undefined],
])('the table is read rightly: %s %s needs %s', (method, path, scope) => {
  expect(scopeOf(method, path)).toBe(scope)
})

test('the table names the scopes that a key can be granted, all of them', () => {
  const named = new Set(rules.map(({ scope }) => scope).filter((scope) => !scope.startsWith('none')))
  expect([...named].sort()).toEqual([...scopes].sort())
})

test.each(operations.map(({ name, http, scope }) => [name, http, scope] as const))(
  '%s needs the scope of the table',
  (_, { method, path }, scope) => expect(scope).toBe(scopeOf(method, path)),
)
