import { createTrackingKey, retireTrackingKeys } from '../../postgres/tables/tracking-keys.ts'
import { trackingKeyGraceDays } from '../../schemas/limits/api-limits.ts'
import { auditCommand } from '../audit-command.ts'
import { defineCommand } from '../command.ts'

export const rotateTrackingKey = defineCommand({
  name: 'tracking-key rotate',
  summary: `Make a new tracking key; the ones before go on for ${trackingKeyGraceDays} days.`,
  options: { workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' } },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    return installation.postgres().transaction(async (tx) => {
      const retiresAt = await retireTrackingKeys(tx, workspace.id, trackingKeyGraceDays)
      const key = await createTrackingKey(tx, workspace.id)
      await auditCommand(tx, workspace.id, 'tracking_key.rotate', null, { tracking_key: key })
      return { workspace_id: workspace.id, tracking_key: key, others_retire_at: retiresAt }
    })
  },
  show: ({ workspace_id, tracking_key, others_retire_at }) =>
    `workspace ${workspace_id}: ${tracking_key}${others_retire_at === null ? '' : `\nthe ones before go on until ${others_retire_at.toISOString()}`}`,
})
