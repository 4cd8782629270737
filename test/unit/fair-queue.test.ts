import { expect, test } from 'vitest'
import { makeFairQueue } from '../../api/operations/fair-queue.ts'
import type { Problem } from '../../schemas/errors/problems.ts'
import { mutationQueue } from '../../schemas/limits/api-limits.ts'
import { clickMapQueue } from '../../schemas/limits/click-map-limits.ts'

const { atOnce, waitingMax } = mutationQueue

const total = 4 * atOnce
const every = <Result>(make: (nth: number) => Result) => Array.from({ length: total }, (_, nth) => make(nth))

test('so many mutations of a workspace run at once, the others in order, also behind one that fails; other workspaces do not wait', async () => {
  const enqueue = makeFairQueue(mutationQueue)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const all = every((nth) =>
    enqueue(1, 60_000, async () => {
      begun.push(nth)
      await new Promise<void>((resolve) => ends.push(resolve))
      if (nth % 2 === 0) throw new Error('failed')
    }).catch((error: Error) => error.message),
  )
  expect(begun).toHaveLength(atOnce)
  expect(await enqueue(2, 60_000, async () => 'other')).toBe('other')
  while (begun.length < total) {
    ends.shift()!()
    await new Promise(setImmediate)
    expect(ends).toHaveLength(atOnce)
  }
  for (const end of ends) end()
  expect(begun).toEqual(every((nth) => nth))
  expect(await Promise.all(all)).toEqual(every((nth) => (nth % 2 === 0 ? 'failed' : undefined)))
})

test('who waits too long, or behind too many, is refused without having begun, and takes nobody’s place', async () => {
  const enqueue = makeFairQueue(mutationQueue)
  let end = () => {}
  const held = new Promise<void>((resolve) => {
    end = resolve
  })
  const first = Array.from({ length: atOnce }, () => enqueue(1, 20, () => held))
  const more = Array.from({ length: waitingMax + 1 }, () => enqueue(1, 20, () => expect.fail('begun')))
  const refused = (await Promise.allSettled(more)).map((one) => 'reason' in one && (one.reason as Problem).code)
  expect(refused).toEqual(more.map(() => 'workspace_busy'))
  end()
  await Promise.all(first)
  expect(await enqueue(1, 60_000, async () => 'next')).toBe('next')
})

test('workspaces in one queue alternate, and one that asks for too much is refused without the others', async () => {
  const enqueue = makeFairQueue(clickMapQueue)
  const begun: string[] = []
  const refused: string[] = []
  const ask = (workspaceId: number, name: string) =>
    enqueue(workspaceId, 60_000, async () => {
      begun.push(name)
      await new Promise(setImmediate)
    }).catch(({ code }: Problem) => refused.push(`${name} ${code}`))
  const own = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].slice(0, clickMapQueue.waitingMax + 2)
  await Promise.all([...own.map((name) => ask(1, name)), ask(2, 'b1'), ask(2, 'b2'), ask(3, 'c1')])
  expect(begun).toEqual(['a1', 'b1', 'a2', 'c1', 'b2', 'a3', 'a4'])
  expect(refused).toEqual(['a5 click_maps_full'])
})
