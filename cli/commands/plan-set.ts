import { setPlan } from '../../postgres/tables/workspaces.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand } from '../command.ts'
import { planChoices, planOf } from '../plans.ts'

export const setPlanOfWorkspace = defineCommand({
  name: 'plan set',
  summary: "Set the plan of a workspace's owner. A lower one hides older data at once and deletes it after 30 days.",
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
    plan: { value: 'PLAN', meaning: `${planChoices.join(', ')}.`, isRequired: true },
  },
  async run({ options, installation }) {
    const id = options.id('workspace')
    const plan = planOf(options.oneOf('plan', planChoices)!)
    const workspace = await installation.workspace(id)
    await installation.postgres().transaction(async (tx) => {
      const changed = await setPlan(tx, workspace.id, plan)
      if (changed.length === 0) throw new CommandFailed(`there is no workspace ${workspace.id}`)
      for (const workspaceId of changed) await auditCommand(tx, workspaceId, 'plan.set', null, { plan_key: plan })
    })
    return { workspace_id: workspace.id, plan_key: plan }
  },
  show: ({ workspace_id, plan_key }) => `workspace ${workspace_id}: plan ${plan_key ?? 'none'}`,
})
