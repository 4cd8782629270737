/** Traffic alerts: read and set by owner and admins in the dashboard. No key reaches them. */
import type { z } from 'zod'
import type { Queryable } from '../../../postgres/client.ts'
import { listAlertSettings, setAlert } from '../../../postgres/tables/messages/traffic-alerts.ts'
import { TrafficAlerts, TrafficAlertsUpdate } from '../../../schemas/resources/traffic-alert.ts'
import { manageScope } from '../../../schemas/scopes.ts'
import { defineOperation } from '../../operations/define.ts'

const readAlerts = defineOperation({
  name: 'traffic_alerts.read',
  http: { method: 'GET', path: '/v1/traffic-alerts' },
  summary: 'Read from when on traffic is a spike or a drop, and when the last alert of one went out.',
  tag: 'Workspace',
  effect: 'read',
  scope: manageScope,
  input: {},
  output: TrafficAlerts,
  handle: ({ workspace, stores: { pg } }) => read(pg, workspace.id),
})

const updateAlerts = defineOperation({
  name: 'traffic_alerts.update',
  http: { method: 'PATCH', path: '/v1/traffic-alerts' },
  summary: 'Set from when on traffic is a spike or a drop; null turns an alert off.',
  tag: 'Workspace',
  effect: 'update',
  scope: manageScope,
  input: { body: TrafficAlertsUpdate },
  output: TrafficAlerts,
  async handle({ body: { spike_visitors, drop_hours }, workspace, clock, stores: { pg } }) {
    const now = new Date(clock.now())
    for (const [kind, threshold] of [['spike', spike_visitors] as const, ['drop', drop_hours] as const]) {
      if (threshold !== undefined) await setAlert(pg, workspace.id, { kind, threshold, now })
    }
    return read(pg, workspace.id)
  },
})

export const trafficAlertOperations = [readAlerts, updateAlerts]

async function read(pg: Queryable, workspaceId: number): Promise<z.output<typeof TrafficAlerts>> {
  const settings = await listAlertSettings(pg, workspaceId)
  const [spike, drop] = (['spike', 'drop'] as const).map((kind) => settings.find((one) => one.kind === kind))
  return {
    spike_visitors: spike?.threshold ?? null,
    spike_told_at: spike?.told_at?.toISOString() ?? null,
    drop_hours: drop?.threshold ?? null,
    drop_told_at: drop?.told_at?.toISOString() ?? null,
  }
}
