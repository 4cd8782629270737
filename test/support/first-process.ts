import { inject } from 'vitest'

/** Asks the run's first process, which has what the test files share. */
export async function askShared<Answer>(path = ''): Promise<Answer> {
  // A connection that lay idle meanwhile may be one that the other side is closing.
  const response = await fetch(`http://127.0.0.1:${inject('sharedStoresPort')}/${path}`, {
    headers: { connection: 'close' },
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`there is no ${path || 'store'}: ${text}`)
  return JSON.parse(text) as Answer
}
