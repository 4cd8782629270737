/** A heap is let grow by a flag of V8, which says nothing of one that it doesn't know. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { growingFlag } from '../../runtime/heap.ts'

test('this Node has the flag by which a heap is let grow', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  expect(known).toMatch(new RegExp(`^ +${growingFlag} `, 'm'))
})
