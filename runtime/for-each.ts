/**
 * Works on items, at most `atOnce` at a time, in their order. A failure stops none of the others. Once `stopping` aborts,
 * no other is begun. Resolves when none is under way. @throws the first failure
 */
export async function forEachAtMost<Item>(
  atOnce: number,
  items: readonly Item[],
  stopping: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const failures: unknown[] = []
  const workOnWaiting = async () => {
    while (waiting.length > 0 && !stopping.aborted) {
      await work(waiting.shift()!).catch((error) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, workOnWaiting))
  if (failures.length > 0) throw failures[0]
}
