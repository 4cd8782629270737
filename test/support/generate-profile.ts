import { type Generating, generateOrdered } from '../../pipeline/profile/generate.ts'
import { claimProfile } from '../../postgres/tables/workspaces/company-profiles.ts'

/** @returns whether a requested profile was waiting */
export async function generateNext(context: Generating, signal: AbortSignal): Promise<boolean> {
  const ordered = await claimProfile(context.pg)
  if (ordered === undefined) return false
  await generateOrdered(context, ordered, signal)
  return true
}
