/** Answers that the page came with, by path (api/dashboard/first-answers.ts). Each is taken once. */

const came = new Map<string, unknown>(
  Object.entries(JSON.parse(globalThis.document?.getElementById('answers')?.textContent ?? '{}')),
)

export function takeFirstAnswer<Answer>(path: string | undefined): { path: string; answer: Answer } | undefined {
  const [name = '', query] = path?.split('?') ?? []
  const sorted = new URLSearchParams(query)
  sorted.sort()
  const key = query === undefined ? name : `${name}?${sorted}`
  if (path === undefined || !came.has(key)) return undefined
  const answer = came.get(key) as Answer
  came.delete(key)
  return { path, answer }
}
