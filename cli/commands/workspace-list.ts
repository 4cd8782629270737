import { listWorkspaces } from '../../postgres/tables/workspaces.ts'
import { defineCommand } from '../command.ts'
import { table } from '../table.ts'

export const listAllWorkspaces = defineCommand({
  name: 'workspace list',
  summary: 'List all workspaces, oldest first.',
  options: {},
  run: ({ installation }) => listWorkspaces(installation.postgres()),
  show: (workspaces) =>
    workspaces.length === 0
      ? 'no workspaces'
      : table(
          ['id', 'slug', 'name', 'timezone', 'plan', 'retention'],
          workspaces.map(({ id, slug, name, timezone, plan_key, retention_days }) => [
            String(id),
            slug,
            name,
            timezone,
            plan_key ?? 'none',
            retention_days === null ? 'by plan' : `${retention_days} days`,
          ]),
        ),
})
