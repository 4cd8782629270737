/** The output of a provider's reader. */
import type { z } from 'zod'
import { type Parsed, parsePart } from '../../../schemas/errors/zod-errors.ts'
import type { RevenueFacts } from '../../../schemas/revenue.ts'

/** Undefined where an event of that kind tells nothing of revenue. */
type ReadEvent = Parsed<RevenueFacts | undefined>

/** @param timeZone of the workspace, in which times without an offset are read */
export type ReadProviderEvent = (event: unknown, timeZone: string) => ReadEvent

/** Reads an event by its kind: `kindOf` says which of `readers` reads it, if any. */
export function readByKind(
  kindOf: z.ZodType<string>,
  readers: Readonly<Record<string, ReadProviderEvent>>,
): ReadProviderEvent {
  return (event, timeZone) => {
    const kind = parsePart('body', kindOf, event)
    if (!kind.ok) return kind
    return Object.hasOwn(readers, kind.value) ? readers[kind.value]!(event, timeZone) : { ok: true, value: undefined }
  }
}

/** A reader of one kind of event: what its schema finds becomes facts. */
export function reader<Schema extends z.ZodType>(
  schema: Schema,
  factsOf: (event: z.output<Schema>, timeZone: string) => RevenueFacts | undefined,
): ReadProviderEvent {
  return (event, timeZone) => {
    const parsed = parsePart('body', schema, event)
    return parsed.ok ? { ok: true, value: factsOf(parsed.value, timeZone) } : parsed
  }
}
