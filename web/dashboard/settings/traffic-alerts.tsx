/** From when on the workspace is told of its traffic at once: when it rises, and when it stops. */
import { useState } from 'preact/hooks'
import type { TrafficAlerts as TrafficAlertsResource } from '../../../schemas/resources/traffic-alert.ts'
import { changesOf } from '../parts/changes-of.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { number, time } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'

type Alerts = (typeof TrafficAlertsResource)['_output']

export function TrafficAlerts({ timezone }: { timezone: string }) {
  const { refusal, done } = useRefusal()
  const [isSetting, set] = useState(false)
  const { answer, failure, isComing } = useAnswer<Alerts>('/traffic-alerts')
  const withLast = (text: string, at: string | null) =>
    at === null ? text : `${text}, the last one ${time(at, timezone)}`
  return (
    <Panel
      title="Traffic alerts"
      action={answer && ['Set alerts', () => set(true)]}
      failure={failure}
      refusal={refusal}
      isComing={isComing}
    >
      {answer && (
        <Facts
          facts={[
            ['Spike', withLast(spikeText(answer), answer.spike_told_at)],
            ['Drop', withLast(dropText(answer), answer.drop_told_at)],
          ]}
        />
      )}
      <p class="note">
        Recipients of reports who get alerts too get a mail within a minute or two, chat channels with alerts a message,
        and webhooks the events <code>traffic.spike</code> and <code>traffic.drop</code>. Each comes at most once in 24
        hours.
      </p>
      {isSetting && answer && <AlertsForm alerts={answer} close={() => set(false)} made={(made) => done({ made })} />}
    </Panel>
  )
}

function spikeText({ spike_visitors: visitors }: Alerts): string {
  if (visitors === null) return 'off'
  return `from ${number(visitors)} ${visitors === 1 ? 'visitor' : 'visitors'} within five minutes`
}

function dropText({ drop_hours: hours }: Alerts): string {
  if (hours === null) return 'off'
  return `after ${number(hours)} ${hours === 1 ? 'hour' : 'hours'} without a visitor`
}

interface FormProps {
  readonly alerts: Alerts
  close(): void
  made(alerts: Alerts): void
}

function AlertsForm({ alerts, close, made }: FormProps) {
  /** As the form was filled. */
  const [{ spike_visitors, drop_hours }] = useState(alerts)
  const submit = (data: FormData) => {
    const numberOf = (name: string) => (data.get(name) === '' ? null : Number(data.get(name)))
    const written = { spike_visitors: numberOf('spike_visitors'), drop_hours: numberOf('drop_hours') }
    return send<Alerts>('PATCH', '/traffic-alerts', changesOf(written, { spike_visitors, drop_hours }))
  }
  return (
    <FormDialog title="Set alerts" verb="Save" close={close} made={made} submit={submit}>
      <label>
        Spike: visitors within five minutes. Leave empty for no alert.
        <input name="spike_visitors" type="number" min="1" defaultValue={spike_visitors ?? ''} />
      </label>
      <label>
        Drop: hours without a visitor, after as long a time with some. Leave empty for no alert.
        <input name="drop_hours" type="number" min="1" defaultValue={drop_hours ?? ''} />
      </label>
    </FormDialog>
  )
}
