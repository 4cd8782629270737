import { defineCommand } from '../command.ts'
import { runBuilds } from '../figures/run-builds.ts'
import { table } from '../table.ts'

export const checkFigures = defineCommand({
  name: 'figures check',
  summary: 'Derive all rows that figures are made of anew from the events, and compare them with those in use.',
  options: { workspace: { value: 'ID', meaning: 'Only this workspace; all of them when left out.' } },
  async run(invocation) {
    const builds = await runBuilds(invocation, 'check')
    const different = builds.filter(({ differences }) => differences !== 0)
    return {
      workspaces: builds.length,
      differences: different.map(({ workspaceId, differences }) => ({ workspace_id: workspaceId, days: differences })),
    }
  },
  show: ({ workspaces, differences }) =>
    differences.length === 0
      ? `all figures are right (workspaces: ${workspaces})`
      : table(
          ['workspace', 'different days'],
          differences.map((one) => [String(one.workspace_id), String(one.days)]),
        ),
  exitCode: ({ differences }) => (differences.length === 0 ? 0 : 1),
})
