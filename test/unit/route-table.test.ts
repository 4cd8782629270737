import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineOperation, type Operation } from '../../api/operations/define.ts'
import { makeRouteTable } from '../../api/transports/route-table.ts'

function operation(method: Operation['http']['method'], path: Operation['http']['path']): Operation {
  return defineOperation({
    name: `test.${method}`,
    http: { method, path },
    summary: '',
    tag: '',
    effect: 'read' as const,
    scope: 'posts:read' as const,
    input: {},
    output: z.null(),
    handle: async () => null,
  })
}

const table = makeRouteTable([
  operation('GET', '/v1/posts'),
  operation('POST', '/v1/posts'),
  operation('POST', '/v1/posts/preview'),
  operation('GET', '/v1/posts/{post_id}'),
  operation('POST', '/v1/posts/{post_id}/schedule'),
])

test.each<[string, string[], object]>([
  ['/v1/posts', ['GET', 'HEAD', 'POST'], {}],
  // A literal segment comes before a parameter, which is decoded.
  ['/v1/posts/preview', ['POST'], {}],
  ['/v1/posts/a%20b', ['GET', 'HEAD'], { post_id: 'a b' }],
  ['/v1/posts/%ff', ['GET', 'HEAD'], { post_id: '%ff' }],
  ['/v1/posts/preview/schedule', ['POST'], { post_id: 'preview' }],
])('%s knows %j, HEAD with GET', (path, methods, parameters) => {
  const match = table.find(path)!
  expect([[...match.operations.keys()].sort(), { ...match.path }]).toEqual([methods, parameters])
})

test('refuses two operations at one place, and one parameter with two names', () => {
  const post = operation('POST', '/v1/posts')
  expect(() => makeRouteTable([post, post])).toThrow('POST /v1/posts')
  expect(() => makeRouteTable([operation('GET', '/v1/a/{x}'), operation('GET', '/v1/a/{y}/z')])).toThrow('{x}')
})
