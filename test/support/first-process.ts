import { inject } from 'vitest'

let own: ((path: string) => Promise<object>) | undefined

/** Called in the first process: what it starts itself shares, too. */
export function answerHere(answer: (path: string) => Promise<object>): void {
  own = answer
}

/** Asks the run's first process, which has what the test files share. */
export async function askShared<Answer>(path = ''): Promise<Answer> {
  if (own) return (await own(path)) as Answer
  // A connection that lay idle meanwhile may be one that the other side is closing.
  const response = await fetch(`http://127.0.0.1:${inject('sharedStoresPort')}/${path}`, {
    headers: { connection: 'close' },
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`there is no ${path || 'store'}: ${text}`)
  return JSON.parse(text) as Answer
}
