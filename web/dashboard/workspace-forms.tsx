/** Forms of a workspace: its settings, and another one for another site. */
import { useRef, useState } from 'preact/hooks'
import type { WorkspaceSettings } from '../../schemas/resources/workspace.ts'
import { localDay } from './address.ts'
import { dayAfter, dayInWords, dayMs } from './calendar-days.ts'
import { changesOf } from './changes-of.ts'
import { Confirm, Dialog, FormDialog, useWhileOpen } from './dialog.tsx'
import { Failure, Refusal } from './parts.tsx'
import { send, useAnswer } from './query.ts'
import { goToWorkspace } from './workspaces.tsx'

type Settings = (typeof WorkspaceSettings)['_output']

const seldomMs = 60_000

interface FormProps {
  close(): void
}

export function ChangeWorkspace({ close }: FormProps) {
  const [refusal, setRefusal] = useState('')
  const closeThis = useWhileOpen(close)
  const { answer, failure } = useAnswer<Settings>('/workspace/settings', { againMs: seldomMs })
  /** As the form was filled. */
  const opened = useRef(answer)
  opened.current ??= answer
  const filled = opened.current
  /** Changes that delete, and wait for a yes. */
  const [asked, ask] = useState<Partial<Settings>>()
  const save = async (changes: Partial<Settings>) => {
    const sent = await send<Settings>('PATCH', '/workspace/settings', changes)
    ask(undefined)
    if ('refusal' in sent) setRefusal(sent.refusal)
    else closeThis()
  }
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const days = String(data.get('retention'))
    const wanted: Partial<Settings> = {
      name: String(data.get('name')),
      timezone: String(data.get('timezone')),
      currency: String(data.get('currency')),
      retention_days: days === '' ? null : Number(days),
      replay_enabled: data.get('replay') !== null,
      replay_share: Number(data.get('replay_share')),
    }
    const changes = changesOf(wanted, filled!)
    if (Object.keys(changes).length === 0) return close()
    const { retention_days: kept } = changes
    if (kept != null && kept < (filled!.retention_days ?? Number.POSITIVE_INFINITY)) ask(changes)
    else await save(changes)
  }
  return (
    <Dialog title="Change the workspace" close={close}>
      {failure && <Failure {...failure} />}
      {filled && (
        <form class="editor" onSubmit={submit}>
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
          <Refusal text={refusal} />
          <button type="submit">Save</button>
        </form>
      )}
      {asked && (
        <Confirm
          title="Delete older analytics"
          verb="Delete and save"
          close={() => ask(undefined)}
          confirmed={() => save(asked)}
        >
          Analytics before {dayInWords(firstKept(asked.retention_days!, filled!.timezone), { dateStyle: 'medium' })} are
          deleted. This can’t be undone.
        </Confirm>
      )}
    </Dialog>
  )
}

/** The first local day that is still shown, as the API counts it: whole days of the last so many times 24 hours. */
function firstKept(days: number, timezone: string): string {
  return dayAfter(localDay(Date.now() - days * dayMs - 1, timezone), 1)
}

/** The session goes on in the new workspace, which shows how to send events. */
export function AddWorkspace({ close }: FormProps) {
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
      made={({ id }) => void goToWorkspace(id)}
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
