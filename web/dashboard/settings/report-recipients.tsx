/** Who gets the figures by e-mail, each week or each month, and who is told of traffic, failed posts, conversions and payments. */
import { useState } from 'preact/hooks'
import type { ReportRecipientResource, ReportRecipients } from '../../../schemas/resources/report-recipient.ts'
import { FormDialog, Removal } from '../parts/dialog.tsx'
import { Panel } from '../parts/panel.tsx'
import { useOptimisticChoice } from '../parts/use-optimistic-choice.ts'
import { type Sent, send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { NamesForm, namesText } from './conversion-names.tsx'
import { ReportState } from './report-state.tsx'

type Recipient = (typeof ReportRecipientResource)['_output']
type Answer = (typeof ReportRecipients)['_output']

export function Reports({ timezone }: { timezone: string }) {
  const { refusal, done } = useRefusal()
  const [isAdding, setAdding] = useState(false)
  const [removed, remove] = useState<Recipient>()
  const [chosen, choose] = useState<Recipient>()
  const isHurried = ({ recipients }: Answer) => recipients.some(({ asked }) => asked?.state === 'waiting')
  const { answer, failure, isComing } = useAnswer<Answer>('/report-recipients', { isHurried })
  return (
    <Panel
      title="Reports by e-mail"
      action={['Add a recipient', () => setAdding(true)]}
      failure={failure}
      refusal={refusal}
      isComing={isComing}
    >
      {answer?.is_mail_set_up === false && (
        <p class="note">
          Mail isn’t set up, so nothing is sent. Whoever runs the service sets <code>SMTP_URL</code> and{' '}
          <code>MAIL_FROM</code>.
        </p>
      )}
      <p class="note">
        A recipient gets the figures of each week, or of each month, at 6:00 in the morning. With <em>failed posts</em>,
        a mail tells of each post that failed and of accounts to be connected again. With <em>conversions</em> or{' '}
        <em>payments</em>, mails tell of them, at most one an hour.
      </p>
      <ul>
        {answer?.recipients.map((recipient) => (
          <li key={recipient.id} class="event endpoint">
            <span class="name">
              <bdi>{recipient.email}</bdi>
            </span>
            <span class="label">{recipient.every}</span>
            <ReportState timezone={timezone} of={recipient} />
            {switchNames.map((name) => (
              <Switch key={name} of={recipient} name={name} done={done} />
            ))}
            {recipient.conversions && (
              <button
                type="button"
                aria-label={`${namesText(recipient.conversion_names)}, to ${recipient.email}, ${recipient.every}`}
                onClick={() => choose(recipient)}
              >
                <bdi>{namesText(recipient.conversion_names)}</bdi>
              </button>
            )}
            {answer.is_mail_set_up && (
              <button
                type="button"
                aria-label={`Send one now to ${recipient.email}, ${recipient.every}`}
                aria-disabled={recipient.asked?.state === 'waiting'}
                onClick={async () => done(await send('POST', `/report-recipients/${recipient.id}/send`))}
              >
                Send one now
              </button>
            )}
            <button
              type="button"
              class="danger"
              aria-label={`Remove ${recipient.email}, ${recipient.every}`}
              onClick={() => remove(recipient)}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      {isAdding && <RecipientForm close={() => setAdding(false)} made={(made) => done({ made })} />}
      {chosen && <NamesForm of={chosen} close={() => choose(undefined)} made={(made) => done({ made })} />}
      {removed && (
        <Removal
          title="Remove this recipient"
          verb="Remove"
          path={`/report-recipients/${removed.id}`}
          close={() => remove(undefined)}
          done={done}
        >
          <bdi>{removed.email}</bdi> gets no more {removed.every} reports
          {switchNames.some((name) => removed[name]) && ', nor other messages that were chosen beside them'}.
        </Removal>
      )}
    </Panel>
  )
}

/** Whatever a recipient gets beside reports. */
const switches = {
  alerts: { label: 'Traffic alerts', word: 'alerts' },
  failures: { label: 'Failed posts', word: 'failed posts' },
  conversions: { label: 'Conversions', word: 'conversions' },
  payments: { label: 'Payments and refunds', word: 'payments' },
} as const
const switchNames = Object.keys(switches) as (keyof typeof switches)[]

interface SwitchProps {
  readonly of: Recipient
  readonly name: keyof typeof switches
  done(sent: Sent<unknown>): void
}

function Switch({ of: recipient, name, done }: SwitchProps) {
  const { id, email, every } = recipient
  const put = (isOn: boolean) => send('PATCH', `/report-recipients/${id}`, { [name]: isOn })
  const { shown, change } = useOptimisticChoice({ row: recipient, known: recipient[name], put })
  return (
    <label>
      <input
        type="checkbox"
        aria-label={`${switches[name].label} to ${email}, ${every}`}
        checked={shown}
        onChange={async ({ currentTarget: { checked } }) => done(await change(checked))}
      />{' '}
      {switches[name].word}
    </label>
  )
}

function RecipientForm({ made, close }: { made(recipient: unknown): void; close(): void }) {
  const submit = (data: FormData) =>
    send('POST', '/report-recipients', {
      email: data.get('email'),
      every: data.get('every'),
      ...Object.fromEntries(switchNames.map((name) => [name, data.get(name) !== null])),
    })
  return (
    <FormDialog title="Add a recipient" verb="Add" close={close} made={made} submit={submit}>
      <label>
        E-mail
        <input name="email" type="email" placeholder="name@example.com" required />
      </label>
      <label>
        How often
        <select name="every">
          <option value="weekly">each Monday</option>
          <option value="monthly">on the 1st of each month</option>
        </select>
      </label>
      {switchNames.map((name) => (
        <label key={name}>
          <span>
            <input name={name} type="checkbox" /> {switches[name].label} too
          </span>
        </label>
      ))}
    </FormDialog>
  )
}
