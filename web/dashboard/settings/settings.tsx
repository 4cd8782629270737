/** The workspace itself: how events are sent to it, its settings, signing in, its accounts, members, short domains, keys, shared links and webhooks, and what was changed. */
import { useState } from 'preact/hooks'
import { retentionDaysByPlan } from '../../../schemas/limits/retention-limits.ts'
import type { WorkspaceSettings } from '../../../schemas/resources/workspace.ts'
import { Accounts } from '../accounts/accounts.tsx'
import { Copy } from '../parts/copy.tsx'
import { Facts } from '../parts/facts.tsx'
import { number, percent } from '../parts/format.ts'
import { Panel, PanelTitle } from '../parts/panel.tsx'
import { type Section, Sections } from '../parts/sections.tsx'
import type { Overview } from '../requests/answers.ts'
import { useAnswer } from '../requests/query.ts'
import type { PageProps } from '../shell/lazy-page.tsx'
import { may } from '../shell/may.ts'
import { ApiKeys } from './api-keys.tsx'
import { AuditLog } from './audit-log.tsx'
import { ChatChannels } from './chat-channels.tsx'
import { ConnectedApps } from './connected-apps.tsx'
import { TrafficLeftOut } from './exclusions.tsx'
import { HowToSendSoon, keyLike } from './install.tsx'
import { Members } from './members.tsx'
import { Reports } from './report-recipients.tsx'
import { SearchSites } from './search-sites.tsx'
import { SharedLinks } from './shared-links.tsx'
import { ShortDomains } from './short-domains.tsx'
import { SigningIn } from './signing-in.tsx'
import { TrafficAlerts } from './traffic-alerts.tsx'
import { Webhooks } from './webhooks.tsx'
import { AddWorkspace, ChangeWorkspace } from './workspace-forms.tsx'

type Settings = (typeof WorkspaceSettings)['_output']

const seldomMs = 60_000

export function SettingsPage({ workspace }: Pick<PageProps, 'workspace'>) {
  const { answer, failure } = useAnswer<Overview>('/analytics/overview?include=snippet', { againMs: seldomMs })
  const [opened, open] = useState<'change' | 'add'>()
  const { answer: settings, failure: unread } = useAnswer<Settings>('/workspace/settings', { againMs: seldomMs })
  const close = () => open(undefined)
  const { name, object_id, timezone, currency, plan_key } = workspace
  const manages = may('workspace:manage')
  const sections: readonly Section[] = [
    {
      id: 'site',
      title: 'Site',
      cards: (
        <>
          <div class="columns panels">
            <section class="panel tall" aria-label="Tracking">
              <PanelTitle>Tracking</PanelTitle>
              <HowToSendSoon snippet={answer?.snippet} />
            </section>
            <Panel title="Workspace" failure={unread}>
              <Facts
                facts={[
                  ['Name', name],
                  ['Timezone', timezone],
                  ['Currency', currency],
                  ['Plan', plan_key],
                  ['Analytics kept', settings ? keptOf(settings) : unseen(keptOf(settingsLike))],
                  ['Session replay', settings ? recordedOf(settings) : unseen(recordedOf(settingsLike))],
                  ['Id', object_id],
                  ['Tracking key (public)', answer?.snippet.tracking_key ?? unseen(keyLike)],
                ]}
              />
              <div class="controls">
                <span class={answer ? '' : 'reserved'}>
                  <Copy text={answer?.snippet.tracking_key ?? ''} label="Copy the tracking key" />
                </span>
                {manages && (
                  <button
                    type="button"
                    aria-label="Change the workspace"
                    aria-disabled={settings === undefined}
                    onClick={() => open('change')}
                  >
                    Change
                  </button>
                )}
                {may('workspace:own') && (
                  <button type="button" onClick={() => open('add')}>
                    Add a workspace
                  </button>
                )}
              </div>
              {opened === 'change' && settings && <ChangeWorkspace settings={settings} close={close} />}
              {opened === 'add' && <AddWorkspace close={close} />}
            </Panel>
            <TrafficLeftOut />
          </div>
          <SearchSites workspaceId={workspace.id} />
        </>
      ),
    },
    {
      id: 'publishing',
      title: 'Publishing',
      cards: (
        <>
          <Accounts timezone={timezone} />
          {may('links:read') && <ShortDomains timezone={timezone} />}
        </>
      ),
    },
    {
      id: 'access',
      title: 'Access',
      cards: (
        <>
          {manages && <Members timezone={timezone} />}
          <div class="columns panels">
            <SigningIn />
            {manages && <SharedLinks timezone={timezone} />}
          </div>
        </>
      ),
    },
    {
      id: 'notifications',
      title: 'Notifications',
      cards: manages && (
        <>
          <Reports timezone={timezone} />
          <ChatChannels timezone={timezone} />
          <TrafficAlerts timezone={timezone} />
        </>
      ),
    },
    {
      id: 'developers',
      title: 'Developers',
      cards: (
        <>
          {manages && <ApiKeys timezone={timezone} />}
          <ConnectedApps timezone={timezone} />
          {may('webhooks:read') && <Webhooks timezone={timezone} />}
        </>
      ),
    },
    { id: 'audit', title: 'Audit', cards: may('audit:read') && <AuditLog timezone={timezone} /> },
  ]
  return <Sections name="Sections of the settings" failure={failure} sections={sections} />
}

/** Takes the room of a text that is awaited, so that nothing below moves when it comes. */
const unseen = (text: string) => <span class="reserved">{text}</span>
/** As most workspaces have them. */
const settingsLike = { plan_key: 'scale', retention_days: null, replay_enabled: false, replay_share: 100 } as const

function keptOf({ plan_key, retention_days: days }: Pick<Settings, 'plan_key' | 'retention_days'>): string {
  // Figures go back no further than the plan.
  if (days === null || days > retentionDaysByPlan[plan_key]) return 'as long as the plan allows'
  return `${number(days)} ${days === 1 ? 'day' : 'days'}`
}

function recordedOf({ replay_enabled, replay_share }: Pick<Settings, 'replay_enabled' | 'replay_share'>): string {
  return replay_enabled ? `${percent(replay_share)} of sessions` : 'off'
}
