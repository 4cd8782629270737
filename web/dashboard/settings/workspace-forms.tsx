/** Forms of a workspace: its settings, and another one for another site. */
import { useState } from 'preact/hooks'
import { retentionDaysMax } from '../../../schemas/limits/retention-limits.ts'
import type { WorkspaceSettings } from '../../../schemas/resources/workspace.ts'
import { dayAfter, dayInWords, dayMs } from '../parts/calendar-days.ts'
import { changesOf } from '../parts/changes-of.ts'
import { Confirm, FormDialog } from '../parts/dialog.tsx'
import { useIsOpen } from '../parts/use-is-open.ts'
import { type Sent, send } from '../requests/query.ts'
import { serverNow } from '../requests/request.ts'
import { goToWorkspace } from '../shell/workspaces.tsx'
import { localDay } from '../view/address.ts'

type Settings = (typeof WorkspaceSettings)['_output']

interface FormProps {
  close(): void
}

interface ChangeProps extends FormProps {
  readonly settings: Settings
}

export function ChangeWorkspace({ settings, close }: ChangeProps) {
  /** As the form was filled. */
  const [filled] = useState(settings)
  /** A retention that deletes, and waits for a yes. */
  const [asked, ask] = useState<{ readonly days: number; answer(isAgreed: boolean): void }>()
  const isAgreed = (days: number) =>
    new Promise<boolean>((resolve) => {
      ask({
        days,
        answer(is) {
          ask(undefined)
          resolve(is)
        },
      })
    })
  const submit = async (data: FormData): Promise<Sent<Settings>> => {
    const days = String(data.get('retention'))
    const wanted: Partial<Settings> = {
      name: String(data.get('name')),
      timezone: String(data.get('timezone')),
      currency: String(data.get('currency')),
      retention_days: days === '' ? null : Number(days),
      replay_enabled: data.get('replay') !== null,
      replay_share: Number(data.get('replay_share')),
    }
    const changes = changesOf(wanted, filled)
    if (Object.keys(changes).length === 0) return { made: filled }
    const { retention_days: kept } = changes
    // Above the plan's days, too: after a change to a lower plan more than those are kept for a month, and would go.
    const isLess = kept != null && kept < (filled.retention_days ?? retentionDaysMax)
    if (isLess && !(await isAgreed(kept))) return { refusal: '' }
    return send<Settings>('PATCH', '/workspace/settings', changes)
  }
  return (
    <>
      <FormDialog title="Change the workspace" verb="Save" close={close} submit={submit}>
        <Name value={filled.name} />
        <Timezone value={filled.timezone} />
        <label>
          Currency
          <input name="currency" defaultValue={filled.currency} list="currencies" required />
        </label>
        <datalist id="currencies">
          {Intl.supportedValuesOf('currency').map((code) => (
            <option key={code} value={code} />
          ))}
        </datalist>
        <label>
          Days to keep analytics. Older data is deleted. Leave empty for the plan’s maximum.
          <input name="retention" type="number" min="1" defaultValue={filled.retention_days ?? ''} />
        </label>
        <label>
          <span>
            <input name="replay" type="checkbox" defaultChecked={filled.replay_enabled} /> Record sessions. Texts and
            fields are masked. Mention it in your privacy notice.
          </span>
        </label>
        <label>
          Percentage of sessions recorded
          <input name="replay_share" type="number" min="1" max="100" defaultValue={filled.replay_share} required />
        </label>
      </FormDialog>
      {asked && (
        <Confirm
          title="Delete older analytics"
          verb="Delete and save"
          close={() => asked.answer(false)}
          confirmed={() => asked.answer(true)}
        >
          Analytics before {dayInWords(firstKept(asked.days, filled.timezone), { dateStyle: 'medium' })} are deleted.
          This can’t be undone.
        </Confirm>
      )}
    </>
  )
}

/** The first local day that is still shown, as the API counts it: whole days of the last so many times 24 hours. */
function firstKept(days: number, timezone: string): string {
  return dayAfter(localDay(serverNow() - days * dayMs - 1, timezone), 1)
}

/** The session goes on in the new workspace, which shows how to send events. */
export function AddWorkspace({ close }: FormProps) {
  const isOpen = useIsOpen()
  return (
    <FormDialog
      title="Add a workspace"
      intro={<p>For another site, with its own visitors, people, posts and links.</p>}
      verb="Add"
      close={close}
      submit={(data) =>
        send<{ id: number }>('POST', '/workspaces', {
          name: data.get('name'),
          timezone: data.get('timezone'),
        })
      }
      made={({ id }) => void (isOpen.current && goToWorkspace(id))}
    >
      <Name value="" />
      <Timezone value={Intl.DateTimeFormat().resolvedOptions().timeZone} />
    </FormDialog>
  )
}

function Name({ value }: { value: string }) {
  return (
    <label>
      Name
      <input name="name" defaultValue={value} maxLength={120} required />
    </label>
  )
}

function Timezone({ value }: { value: string }) {
  return (
    <>
      <label>
        Timezone
        <input name="timezone" defaultValue={value} list="timezones" required />
      </label>
      <datalist id="timezones">
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  )
}
