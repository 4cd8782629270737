import { expect, test } from 'vitest'
import { namesThisMachine } from '../../web/dashboard/settings/this-machine.ts'

test.each([
  ['http://localhost:8080', true],
  ['http://127.0.0.1', true],
  ['http://[::1]:8080', true],
  ['https://[2001:db8::1]', false],
  ['https://localhost.example.com', false],
])('a snippet from %s works on this machine alone: %s', (host, isOwn) => {
  expect(namesThisMachine(`<script async src="${host}/svc.js?key=a"></script>`)).toBe(isOwn)
})
