/** Runs the builds that a command needs, in this process or in a running pipeline, whichever has the fold's lease. */
import { BuildError, buildNextPart } from '../../pipeline/fold/build.ts'
import { fold } from '../../pipeline/fold/fold.ts'
import { whileLeased } from '../../pipeline/fold/lease.ts'
import {
  type BuildPurpose,
  beginBuild,
  type FigureBuild,
  leaveBuild,
  readBuilds,
} from '../../postgres/tables/figures/figure-builds.ts'
import { listWorkspaces } from '../../postgres/tables/workspaces/workspaces.ts'
import { counted } from '../../schemas/errors/validation-errors.ts'
import { CommandFailed, type Invocation } from '../command.ts'

/** Begins a build for the workspace of the option, or for each, and waits until all are done. */
export async function runBuilds(invocation: Invocation, purpose: BuildPurpose): Promise<FigureBuild[]> {
  const { options, installation, progress, signal } = invocation
  const [pg, ch] = [installation.postgres(), await installation.answeringClickhouse()]
  const id = options.id('workspace')
  const workspaceIds =
    id === undefined
      ? (await listWorkspaces(pg)).map((workspace) => workspace.id)
      : [(await installation.workspace(id)).id]
  /** Workspaces by their builds. */
  const begun = new Map<number, number>()
  for (const workspaceId of workspaceIds) {
    const build = await beginBuild(pg, workspaceId, purpose)
    // Else the workspace was deleted a moment ago.
    if (build !== undefined) begun.set(build, workspaceId)
  }
  /** Ends at the first failure: a Postgres that hangs would take seconds for each. */
  const leaveAll = async () => {
    for (const build of begun.keys()) await leaveBuild(pg, build)
  }
  // Kept here: what a pipeline knows of a build that is over goes after some minutes.
  const ended = new Map<number, FigureBuild>()
  /** Builds that nobody waits for here, and that fail. */
  const ofOthers = new Set<number>()
  for (;;) {
    const builds = await readBuilds(pg, [...begun.keys()])
    const left = builds.filter(({ state }) => state === 'building')
    for (const build of builds) if (build.state !== 'building') ended.set(build.build, build)
    if (left.length === 0) break
    const [{ workspaceId, parts, partsDone }] = left as [FigureBuild]
    progress.running(
      `${counted(left.length, 'workspace')} left, workspace ${workspaceId}: ${partsDone} of ${parts || '?'} parts`,
    )
    await whileLeased(pg, ch, signal, async (work) => {
      const { isAllTaken } = await fold(work)
      if (!isAllTaken) return
      await buildNextPart(work, Date.now(), ofOthers).catch((error: unknown) => {
        if (!(error instanceof BuildError)) throw error
        if (begun.has(error.build.build)) throw error.cause
        ofOthers.add(error.build.build)
      })
    }).catch(async (error: unknown) => {
      // Leftover builds would run before those of the next run. If Postgres is away, the pipeline finishes them.
      await leaveAll().catch(() => {})
      throw error
    })
  }
  // A build goes with its workspace. Those of the others are told nevertheless.
  if (id !== undefined) await installation.workspace(id)
  const kept = new Set((await listWorkspaces(pg)).map((workspace) => workspace.id))
  const unseen = [...begun].filter(([build, workspaceId]) => !ended.has(build) && kept.has(workspaceId))
  if (unseen.length > 0) throw new CommandFailed(`${counted(unseen.length, 'build')} ended unseen: run it again`)
  return [...ended.values()].filter(({ workspaceId }) => kept.has(workspaceId))
}
