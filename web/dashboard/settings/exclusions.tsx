/** Traffic that the workspace leaves out: its own office, whole countries, pages, and sites that aren't its own. */
import { useState } from 'preact/hooks'
import type { ExclusionsForCaller, Exclusions as ExclusionsResource } from '../../../schemas/resources/exclusions.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { Failure, Refusal } from '../parts/failure.tsx'
import { linesIn } from '../parts/lines-in.ts'
import { PanelTitle } from '../parts/panel.tsx'
import { fetchOnce, type Sent, send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'

type Rules = (typeof ExclusionsResource)['_output']
type ShownRules = (typeof ExclusionsForCaller)['_output']

const seldomMs = 60_000

const lists: readonly { readonly name: keyof Rules; readonly title: string; readonly meaning: string }[] = [
  {
    name: 'addresses',
    title: 'Addresses',
    meaning:
      'Visitors with these addresses aren’t counted, such as those of your office. A range is like 192.0.2.0/24.',
  },
  { name: 'countries', title: 'Countries', meaning: 'Visitors in these countries aren’t counted. Codes, such as DE.' },
  {
    name: 'paths',
    title: 'Pages',
    meaning: 'These pages aren’t counted, such as /admin/*. * is any text; ! before a page counts it after all.',
  },
  {
    name: 'hostnames',
    title: 'Only these hosts',
    meaning:
      'Pages on all other hosts aren’t counted. Name every host of your site: www.example.com and example.com are two, and *.example.com is all below example.com. Leave empty to count every host.',
  },
]

export function TrafficLeftOut() {
  const { refusal, done } = useRefusal()
  const [isChanging, change] = useState(false)
  const { answer, failure, isComing } = useAnswer<ShownRules>('/exclusions', { againMs: seldomMs })
  const own = answer?.caller_address ?? null
  const mayChange = answer !== undefined && may('analytics:write')
  return (
    <section class={isComing ? 'panel coming' : 'panel'} aria-label="Traffic left out">
      <PanelTitle>
        Traffic left out
        {mayChange && (
          <span class="controls">
            {own !== null && !answer.addresses.includes(own) && (
              <button type="button" title={own} onClick={async () => done(await addAddress(own))}>
                Add my address
              </button>
            )}
            <button type="button" aria-label="Change the rules" onClick={() => change(true)}>
              Change
            </button>
          </span>
        )}
      </PanelTitle>
      {failure && <Failure {...failure} />}
      <Refusal text={refusal} />
      {answer && <Facts facts={lists.map(({ name, title }) => [title, shownList(name, answer[name])])} />}
      <p class="note">
        Events, recordings and clicks on short links that fit are not stored. A change takes effect within seconds, and
        what is stored stays. To leave out one browser alone, set <code>localStorage.svc_off</code> in it.
      </p>
      {isChanging && answer && <RulesForm rules={answer} close={() => change(false)} made={(made) => done({ made })} />}
    </section>
  )
}

function shownList(name: keyof Rules, entries: readonly string[]): string {
  if (entries.length > 0) return entries.join(', ')
  return name === 'hostnames' ? 'every host counts' : 'none'
}

/** To the list as it is then: somebody else may have changed it meanwhile. */
async function addAddress(own: string): Promise<Sent<Rules>> {
  const known = await fetchOnce<ShownRules>('/exclusions')
  if ('refusal' in known) return known
  return send<Rules>('PATCH', '/exclusions', { addresses: [...known.made.addresses, own] })
}

interface FormProps {
  readonly rules: Rules
  close(): void
  made(rules: Rules): void
}

/** Sends the lists that were changed: those that others have changed meanwhile stay. */
function RulesForm({ rules, close, made }: FormProps) {
  const [before] = useState(rules)
  const submit = (data: FormData) => {
    const changed = lists
      .map(({ name }) => [name, linesIn(String(data.get(name)))] as const)
      .filter(([name, lines]) => lines.join('\n') !== before[name].join('\n'))
    return send<Rules>('PATCH', '/exclusions', Object.fromEntries(changed))
  }
  return (
    <FormDialog
      title="Leave traffic out"
      intro={<p>One entry a line.</p>}
      verb="Save"
      close={close}
      made={made}
      submit={submit}
    >
      {lists.map(({ name, title, meaning }) => (
        <label key={name}>
          <b>{title}</b> {meaning}
          <textarea name={name} rows={3} spellcheck={false} defaultValue={before[name].join('\n')} />
        </label>
      ))}
    </FormDialog>
  )
}
