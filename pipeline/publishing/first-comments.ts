/**
 * First comments, for which a token may lack the permission though it is good for posts. Then the account stays
 * connected, and the post without its comment says what is missing. Held by test/integration/publish-comments.test.ts.
 */
import { type CommentWriter, ProviderError } from './adapter.ts'

interface Permission {
  /** Permissions that the token needs to write a comment, and to look for one, in words. */
  readonly toWrite: string
  readonly toLook: string
  isMissing(error: unknown): boolean
}

/** @returns `writer`, whose refusals for want of the permission aren't about the account */
export function withPermission<Credentials>(
  { toWrite, toLook, isMissing }: Permission,
  { lookUp, publish }: CommentWriter<Credentials>,
): CommentWriter<Credentials> {
  async function say<Result>(kind: 'permanent' | 'unknown', ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ProviderError) || !isMissing(error)) throw error
      const needs = kind === 'unknown' ? `to look for it there needs ${toLook}` : `a first comment needs ${toWrite}`
      const message = `${error.message} (${needs})`
      const code = kind === 'unknown' ? 'outcome_unknown' : 'permission_missing'
      const isUnpublished = kind === 'permanent'
      throw new ProviderError({ kind, code, isUnpublished }, message, { cause: error.cause })
    }
  }
  return {
    lookUp: (...asked) => say('unknown', () => lookUp(...asked)),
    publish: (...asked) => say('permanent', () => publish(...asked)),
  }
}
