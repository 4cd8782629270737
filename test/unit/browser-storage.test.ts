/** Values of the browser script where the browser's storage takes nothing more. */
import { afterEach, expect, test, vi } from 'vitest'
import { eraseAll, read, readJson, write } from '../../web/script/storage.ts'

afterEach(() => {
  eraseAll()
  vi.unstubAllGlobals()
})

/** As a disk that is full from now on: what is there can be read and deleted. */
function fillDisk(stored: Record<string, string>): void {
  const refuse = () => {
    throw new DOMException('full', 'QuotaExceededError')
  }
  vi.stubGlobal('localStorage', new Proxy(stored, { set: refuse }))
}

test('a value that a full storage refuses is kept in memory, and the older one is not taken for it', () => {
  const stored: Record<string, string> = { svc_sid: '1000.1000', svc_queue: '{}' }
  fillDisk(stored)
  write('svc_sid', '2000.2000')
  write('svc_queue', '{"key":"waiting"}')
  expect(read('svc_sid')).toBe('2000.2000')
  expect(readJson('svc_queue')).toEqual({ key: 'waiting' })
  eraseAll()
  expect(['svc_sid', 'svc_queue'].map((key) => read(key as 'svc_sid'))).toEqual([undefined, undefined])
  expect(stored).toEqual({})
})
