import { defineCommand } from '../command.ts'
import { runBuilds } from '../figures/run-builds.ts'

export const rebuildFigures = defineCommand({
  name: 'figures rebuild',
  summary: 'Derive all rows that figures are made of anew from the events. Everything goes on meanwhile.',
  options: { workspace: { value: 'ID', meaning: 'Only this workspace; all of them when left out.' } },
  async run(invocation) {
    const builds = await runBuilds(invocation, 'figures')
    return { workspaces: builds.length }
  },
  show: ({ workspaces }) => `figures were built anew (workspaces: ${workspaces})`,
})
