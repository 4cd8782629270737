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
    effect: 'read',
    scope: 'posts:read',
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
const find = (path: string) => {
  const match = table.find(path)
  return match && { methods: [...match.operations.keys()].sort(), path: { ...match.path } }
}

test('knows all methods of a path, HEAD with GET', () => {
  expect(find('/v1/posts')).toEqual({ methods: ['GET', 'HEAD', 'POST'], path: {} })
})

test('takes a literal segment before a parameter, which is decoded', () => {
  expect(find('/v1/posts/preview')).toEqual({ methods: ['POST'], path: {} })
  expect(find('/v1/posts/a%20b')).toEqual({ methods: ['GET', 'HEAD'], path: { post_id: 'a b' } })
  expect(find('/v1/posts/%ff')).toEqual({ methods: ['GET', 'HEAD'], path: { post_id: '%ff' } })
  expect(find('/v1/posts/preview/schedule')).toEqual({ methods: ['POST'], path: { post_id: 'preview' } })
})

test.each([
  '/',
  '',
  '/v1',
  '/v1/posts/',
  '/v1/posts//schedule',
  '//v1/posts',
  '/v1/posts/1/2',
  '/v1/%zz',
  '/V1/posts',
  '/v1/../v1/posts',
  '/v1/__proto__',
])('has nothing at %j', (path) => {
  expect(find(path)).toBeUndefined()
})

test('refuses two operations at one place, and one parameter with two names', () => {
  const post = operation('POST', '/v1/posts')
  expect(() => makeRouteTable([post, post])).toThrow('POST /v1/posts')
  expect(() => makeRouteTable([operation('GET', '/v1/a/{x}'), operation('GET', '/v1/a/{y}/z')])).toThrow('{x}')
})
