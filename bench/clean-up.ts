/** Ends and removals that must also run when the bench is interrupted. */

const pending = new Set<() => Promise<void>>()

/** Runs `end` once: when the returned function is called, or at an interruption before that. */
export function atEnd(end: () => Promise<void>): () => Promise<void> {
  let ending: Promise<void> | undefined
  const once = () => {
    ending ??= end().finally(() => pending.delete(once))
    return ending
  }
  pending.add(once)
  return once
}

/** Newest first. */
export async function cleanUp(): Promise<void> {
  for (const end of [...pending].reverse()) await end()
}
