import { setPlan } from '../../postgres/tables/workspaces.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand } from '../command.ts'
import { planChoices, planOf } from '../plans.ts'

export const setPlanOfWorkspace = defineCommand({
  name: 'plan set',
  summary:
    "Set the plan of a workspace's owner, for all of the owner's workspaces. A lower one hides older data at once and deletes it after 30 days.",
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
    plan: { value: 'PLAN', meaning: `${planChoices.join(', ')}.`, isRequired: true },
  },
  async run({ options, installation }) {
    const id = options.id('workspace')
    const plan = planOf(options.oneOf('plan', planChoices)!)
    const workspace = await installation.workspace(id)
    const workspaceIds = await installation.postgres().transaction(async (tx) => {
      const changed = await setPlan(tx, workspace.id, plan)
      if (changed.length === 0) throw new CommandFailed(`there is no workspace ${workspace.id}`)
      for (const workspaceId of changed) await auditCommand(tx, workspaceId, 'plan.set', null, { plan_key: plan })
      return changed
    })
    return { workspace_id: workspace.id, plan_key: plan, workspace_ids: workspaceIds }
  },
  show: ({ workspace_ids: ids, plan_key }) =>
    `${ids.length > 1 ? `workspaces ${ids.join(', ')}, all of one owner` : `workspace ${ids[0]}`}: plan ${plan_key ?? 'none'}`,
})
