import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ReplyError } from 'ioredis'
import { expect, test } from 'vitest'
import { lossyDestination, makeLog } from '../../runtime/log.ts'
import { withLastLine } from '../../start/processes/log-file.ts'
import { setUpFolder } from '../support/test-folder.ts'

const folder = setUpFolder()

function logged(error: unknown): { err: Record<string, unknown>; line: string } {
  const lines: string[] = []
  makeLog('test', 'info', { write: (text) => void lines.push(text) }).warn({ err: error }, 'it failed')
  const line = lines.join('')
  return { ...JSON.parse(line), line }
}

test('an error is logged as type, message, code and stack, without what a client hung on it', () => {
  const refused = Object.assign(new ReplyError('WRONGPASS invalid username-password pair'), {
    command: { name: 'hello', args: ['3', 'AUTH', 'svc', 'TOPSECRET'] },
  })
  const { err, line } = logged(refused)
  expect(Object.keys(err)).toEqual(['type', 'message', 'stack'])
  expect(err).toMatchObject({ type: 'ReplyError', message: 'WRONGPASS invalid username-password pair' })
  expect(line).not.toContain('TOPSECRET')

  const failing = { code: '23505', detail: 'Failing row contains (ada@example.com)', parameters: ['ada@example.com'] }
  const row = logged(Object.assign(new TypeError('not unique'), failing))
  expect(row.err).toMatchObject({ type: 'TypeError', code: '23505' })
  expect(row.line).not.toContain('ada@')
})

test('an error’s causes are in its stack, a circle of them too, and URLs have lost their passwords', () => {
  const cause = new Error('no way to redis://svc:TOPSECRET@db:6379/0')
  const error = new Error('away', { cause })
  cause.cause = error
  const { err, line } = logged(error)
  expect(err['stack']).toContain('caused by: Error: no way to redis://…@db:6379/0')
  expect(line).not.toContain('TOPSECRET')
  expect(logged('redis://svc:TOPSECRET@db').line).not.toContain('TOPSECRET')
})

test('a log whose disk is full ends no process', () => {
  const full = openSync('/dev/full', 'w')
  const log = makeLog('test', 'info', lossyDestination(full))
  for (const line of ['one', 'another']) expect(() => log.info(line)).not.toThrow()
  closeSync(full)
})

test.each([
  ['', 'postgres ended'],
  ['{"msg":"it failed","err":{"message":"no room"}}\n', 'postgres ended: it failed: no room'],
  ['x FATAL:  in use\nx HINT:  End it.\nx LOG:  database system is shut down\n', 'postgres ended: x FATAL:  in use'],
  ['x LOG:  database system is shut down\n', 'postgres ended: x LOG:  database system is shut down'],
])('of a log file %j a start says %j', (text, said) => {
  const path = join(folder, 'postgres.log')
  writeFileSync(path, text)
  expect(withLastLine('postgres ended', path)).toBe(said)
})

test('a start that lasts shows no line of the stop before it', () => {
  const path = join(folder, 'api.log')
  writeFileSync(path, '{"msg":"stopped"}\n')
  expect(withLastLine("api isn't up yet", path, Date.now() + 60_000)).toBe("api isn't up yet")
  expect(withLastLine("api isn't up yet", path, Date.now() - 60_000)).toBe("api isn't up yet: stopped")
  expect(withLastLine("api isn't up yet", join(folder, 'none.log'), Date.now())).toBe("api isn't up yet")
})
