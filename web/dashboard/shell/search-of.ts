/** `?` and the parameters; empty without any. Not by `size`, which Safari 16 doesn't have. */
export function searchOf(params: URLSearchParams): string {
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}
