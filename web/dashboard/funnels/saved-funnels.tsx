/** Funnels that the workspace has saved under names: a click puts the steps of one in place of the page's. */
import { useState } from 'preact/hooks'
import { funnelStepsMin } from '../../../schemas/limits/overview-limits.ts'
import type { SavedFunnel } from '../../../schemas/resources/saved-funnel.ts'
import { changesOf } from '../parts/changes-of.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/failure.tsx'
import { Panel } from '../parts/panel.tsx'
import { DeleteSaved, SavedRow, SaveForm } from '../parts/saved-items.tsx'
import { send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'
import { shownValue } from '../view/address.ts'
import { type FunnelView, stepsOf, textOf, withinLabel } from './funnel-address.ts'

interface SavedFunnelsProps {
  /** The page's. */
  readonly funnel: FunnelView
  change(funnel: FunnelView): void
}

/** Others save few. */
const againMs = 60_000

export function SavedFunnels({ funnel, change }: SavedFunnelsProps) {
  const { answer, failure, isComing } = useAnswer<readonly SavedFunnel[]>('/funnels', { againMs })
  const { refusal, done } = useRefusal()
  const [edited, setEdited] = useState<SavedFunnel>()
  const [deleted, setDeleted] = useState<SavedFunnel>()
  const maySave = may('analytics:write') && funnel.steps.length >= funnelStepsMin
  return (
    <Panel title="Saved funnels" failure={failure}>
      {isComing && <p class="empty">…</p>}
      {answer?.length === 0 && !maySave && <p class="empty">None yet. A funnel of two or more steps can be saved.</p>}
      <ul>
        {answer?.map((saved) => (
          <SavedRow
            key={saved.id}
            name={saved.name}
            apply={() => change(viewOf(saved))}
            change={() => setEdited(saved)}
            end={() => setDeleted(saved)}
          >
            <bdi>
              {viewOf(saved)
                .steps.map(({ value }) => shownValue(value))
                .join(' → ')}
            </bdi>
            , {withinLabel(saved.within)}
          </SavedRow>
        ))}
      </ul>
      <Refusal text={refusal} />
      {maySave && <SaveForm what="this funnel" path="/funnels" content={sentOf(funnel)} done={done} />}
      {edited && <ChangeFunnel edited={edited} funnel={funnel} close={() => setEdited(undefined)} />}
      {deleted && (
        <DeleteSaved
          title="Delete this funnel"
          path={`/funnels/${deleted.id}`}
          name={deleted.name}
          close={() => setDeleted(undefined)}
          done={done}
        />
      )}
    </Panel>
  )
}

interface ChangeFunnelProps {
  readonly edited: SavedFunnel
  /** The page's. */
  readonly funnel: FunnelView
  close(): void
}

function ChangeFunnel({ edited, funnel, close }: ChangeFunnelProps) {
  /** As the form was filled. */
  const [{ id, name, steps, within }] = useState(edited)
  const submit = (data: FormData) => {
    const kept = data.has('replace') ? sentOf(funnel) : { steps, within }
    return send(
      'PATCH',
      `/funnels/${id}`,
      changesOf({ name: String(data.get('name')), ...kept }, { name, steps, within }),
    )
  }
  return (
    <FormDialog title="Change the funnel" verb="Save" close={close} submit={submit}>
      <label>
        Name
        <input name="name" defaultValue={name} maxLength={120} required />
      </label>
      {funnel.steps.length >= funnelStepsMin && (
        <label class="choice">
          <input type="checkbox" name="replace" /> Put the page’s steps in place of its own
        </label>
      )}
    </FormDialog>
  )
}

function viewOf({ steps, within }: SavedFunnel): FunnelView {
  return { steps: stepsOf(steps), within }
}

/** As the API takes it. */
function sentOf({ steps, within }: FunnelView): { steps: string[]; within: string } {
  return { steps: steps.map(textOf), within }
}
