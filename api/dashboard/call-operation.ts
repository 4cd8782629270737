/** Calls operations with inputs that the product itself writes, such as those of the demo: the same bounds and checks as for callers. */
import type { CallContext, OperationInput } from '../operations/define.ts'

interface Callable<Answer> {
  readonly input: OperationInput
  handle(context: never): Promise<Answer>
}

/** @param context of the workspace, within a transaction. No audit row and no webhook event tells of the call */
export function callOperation<Answer>(
  context: CallContext,
  operation: Callable<Answer>,
  body: object,
  path: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const { input } = operation
  const given = { body: input.body?.parse(body), path: input.path?.parse(path), query: undefined, prepared: undefined }
  // The operation's own schemas check what the types don't follow here.
  return operation.handle({ ...context, ...given } as never)
}
