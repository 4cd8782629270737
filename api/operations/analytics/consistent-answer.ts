/** Answers that are put together from cells and rows of sessions, whatever is written meanwhile. */
import type { CellDays } from '../../../clickhouse/queries/overview/figure-parts.ts'
import { type FigureBuild, readCurrentBuild } from '../../../postgres/tables/figures/figure-builds.ts'
import { overviewAttemptsMax } from '../../../schemas/limits/overview-limits.ts'
import type { FigureContext } from '../define.ts'

/** Reads again where cells of some days were written anew meanwhile; the last attempt uses no cells. */
export async function answerConsistently<Answer>(
  { stores, workspace }: Pick<FigureContext, 'stores' | 'workspace'>,
  answer: (build: FigureBuild | undefined) => Promise<Answer>,
): Promise<Answer> {
  const read = () => readCurrentBuild(stores.pg, workspace.id)
  for (let attempt = 1; attempt < overviewAttemptsMax; attempt++) {
    const before = await read()
    const answered = await answer(before)
    const after = await read()
    if (before?.build === after?.build && before?.cellsChanges === after?.cellsChanges) return answered
  }
  const build = await read()
  return answer(build && { ...build, cellsThrough: null, staleDays: [] })
}

/** Without a build, one that has no rows. */
export function buildAndCellsOf(build: FigureBuild | undefined): { readonly build: number; readonly cells: CellDays } {
  return { build: build?.build ?? 0, cells: { through: build?.cellsThrough ?? -1, stale: build?.staleDays ?? [] } }
}
