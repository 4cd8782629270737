/** Forms of a workspace: its settings, and another one for another site. */
import { useRef, useState } from 'preact/hooks'
import type { WorkspaceSettings } from '../../schemas/resources/workspace.ts'
import { changesOf } from './changes-of.ts'
import { Dialog } from './dialog.tsx'
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
  const { answer, failure } = useAnswer<Settings>('/workspace/settings', { againMs: seldomMs })
  /** As the form was filled. */
  const opened = useRef(answer)
  opened.current ??= answer
  const filled = opened.current
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const days = String(data.get('retention'))
    const wanted: Partial<Settings> = {
      ...{ name: String(data.get('name')), timezone: String(data.get('timezone')) },
      ...{ currency: String(data.get('currency')), retention_days: days === '' ? null : Number(days) },
      ...{ replay_enabled: data.get('replay') !== null, replay_share: Number(data.get('replay_share')) },
    }
    const changes = changesOf(wanted, filled!)
    if (Object.keys(changes).length === 0) return close()
    const sent = await send<Settings>('PATCH', '/workspace/settings', changes)
    if ('refusal' in sent) setRefusal(sent.refusal)
    else close()
  }
  return (
    <Dialog title="Change the workspace" close={close}>
      {failure && <Failure {...failure} />}
      {filled && (
        <form class="editor" onSubmit={submit}>
          <Name value={filled.name} />
          <Timezone value={filled.timezone} />
          <label>
            Currency of totals
            <input name="currency" defaultValue={filled.currency} list="currencies" required />
          </label>
          <datalist id="currencies">
            {Intl.supportedValuesOf('currency').map((code) => (
              <option key={code} value={code} />
            ))}
          </datalist>
          <label>
            Days that analytics are kept; as long as the plan says where none are given. Older ones are deleted.
            <input name="retention" type="number" min="1" defaultValue={filled.retention_days ?? ''} />
          </label>
          <label>
            <span>
              <input name="replay" type="checkbox" defaultChecked={filled.replay_enabled} /> Record sessions. Texts and
              fields are masked; say in your privacy notice that you do so.
            </span>
          </label>
          <label>
            Sessions of a hundred that are recorded
            <input name="replay_share" type="number" min="1" max="100" defaultValue={filled.replay_share} required />
          </label>
          <Refusal text={refusal} />
          <button type="submit">Change it</button>
        </form>
      )}
    </Dialog>
  )
}

/** The session goes on in the new workspace, which shows how to send events. */
export function AddWorkspace({ close }: FormProps) {
  const [refusal, setRefusal] = useState('')
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const sent = await send<{ id: number }>('POST', '/workspaces', {
      ...{ name: data.get('name'), timezone: data.get('timezone') },
    })
    if ('refusal' in sent) setRefusal(sent.refusal)
    else goToWorkspace(sent.made.id)
  }
  return (
    <Dialog title="Add a workspace" close={close}>
      <p>Another site, with visitors, people, posts and links of its own.</p>
      <form class="editor" onSubmit={submit}>
        <Name value="" />
        <Timezone value={Intl.DateTimeFormat().resolvedOptions().timeZone} />
        <Refusal text={refusal} />
        <button type="submit">Add it</button>
      </form>
    </Dialog>
  )
}

function Name({ value }: { value: string }) {
  return (
    <label>
      Name
      <input name="name" defaultValue={value} required />
    </label>
  )
}

function Timezone({ value }: { value: string }) {
  return (
    <>
      <label>
        Timezone, in which its days begin
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
