/** ClickHouse's exceptions: a code, a text and a name, and the HTTP status that its own server answers them with. */

export class EngineError extends Error {
  override name = 'EngineError'
  readonly code: number

  constructor(code: number, message: string, type: string) {
    super(`Code: ${code}. DB::Exception: ${message}. (${type})`)
    this.code = code
  }

  /** An error of chDB: its text is ClickHouse's, with the part of the answer that was ready behind it. */
  static of(error: unknown): EngineError {
    if (error instanceof EngineError) return error
    const text = error instanceof Error ? error.message : String(error)
    const known = /Code: (\d+)\. DB::Exception: ([\s\S]*?)\.? \(([A-Z][A-Z0-9_]{2,})\)/.exec(text)
    if (known) return new EngineError(Number(known[1]), known[2]!, known[3]!)
    return new EngineError(1001, text, 'STD_EXCEPTION')
  }

  get status(): number {
    return statuses.get(this.code) ?? 500
  }
}

export function tooManyQueries(max: number): EngineError {
  return new EngineError(202, `Too many simultaneous queries. Maximum: ${max}`, 'TOO_MANY_SIMULTANEOUS_QUERIES')
}

export function bodyTooLarge(bytesMax: number): EngineError {
  return new EngineError(290, `The request's body is larger than ${bytesMax} bytes`, 'LIMIT_EXCEEDED')
}

export function fieldTooLong(): EngineError {
  return new EngineError(1000, 'HTML Form Exception: Field value too long', 'POCO_EXCEPTION')
}

const statuses: ReadonlyMap<number, number> = new Map([
  ...[6, 26, 27, 33, 36, 38, 41, 43, 53, 62, 70, 72, 117, 386, 456, 457].map((code) => [code, 400] as const),
  ...[16, 46, 47, 50, 60, 81, 115].map((code) => [code, 404] as const),
  [159, 408],
  [202, 503],
  [290, 413],
  [497, 403],
  [516, 401],
])
