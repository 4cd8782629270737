/** Apps that act for members over MCP, connected by signing in: listed, and disconnected. */
import { useState } from 'preact/hooks'
import type { ConnectedApps as ConnectedAppsResource } from '../../../schemas/resources/connected-app.ts'
import { CountedNames } from '../parts/counted-names.tsx'
import { Removal } from '../parts/dialog.tsx'
import { time } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'

type Apps = (typeof ConnectedAppsResource)['_output']

export function ConnectedApps({ timezone }: { timezone: string }) {
  const { refusal, done } = useRefusal()
  const [ended, end] = useState<Apps[number]>()
  const { answer, failure, isComing } = useAnswer<Apps>('/connected-apps')
  return (
    <Panel title="Connected apps" failure={failure} refusal={refusal} isComing={isComing}>
      {answer?.length === 0 && (
        <p class="empty">
          Assistants such as Claude or ChatGPT connect by signing in here. <a href="/guides/mcp">How</a>
        </p>
      )}
      <ul>
        {answer?.map((app) => (
          <li key={app.id} class="event endpoint">
            <span class="name">
              <bdi>{app.name}</bdi> <bdi class="label">{app.target}</bdi>
            </span>
            <bdi class="label">{app.member}</bdi>
            <CountedNames
              names={app.scopes}
              word="scope"
              of={app.name}
              besides={app.scopes.some((scope) => scope.endsWith(':write')) ? '' : ', read-only'}
            />
            <span class="label">
              {app.last_used_at === null ? 'never used' : `used ${time(app.last_used_at, timezone)}`}
            </span>
            <button type="button" class="danger" aria-label={`Disconnect ${app.name}`} onClick={() => end(app)}>
              Disconnect
            </button>
          </li>
        ))}
      </ul>
      {ended && (
        <Removal
          title="Disconnect this app"
          verb="Disconnect"
          path={`/connected-apps/${ended.id}`}
          close={() => end(undefined)}
          done={done}
        >
          <bdi>{ended.name}</bdi> stops working within five seconds. It can ask again.
        </Removal>
      )}
    </Panel>
  )
}
