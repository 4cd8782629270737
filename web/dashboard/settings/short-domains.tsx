/** Short domains: hosts of the workspace's own for short links, each proven by a TXT record. */
import { useState } from 'preact/hooks'
import type { ShortDomain } from '../../../schemas/resources/short-domain.ts'
import { ChangeButtons } from '../parts/change-buttons.tsx'
import { changesOf } from '../parts/changes-of.ts'
import { Copy } from '../parts/copy.tsx'
import { FormDialog, Removal } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { time } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'

type Domain = (typeof ShortDomain)['_output']

const seldomMs = 60_000

const failures: Readonly<Record<NonNullable<Domain['failure']>, string>> = {
  record_missing: 'There is no TXT record of this name yet. A new one may take an hour to be seen.',
  record_different: 'There are TXT records of this name, and none has this value.',
  dns_timeout: 'The name servers did not answer in time.',
  dns_failed: 'The name servers could not answer.',
  host_taken: 'Another workspace has proven that the host is its own, or this installation has it by now.',
}

export function ShortDomains({ timezone }: { readonly timezone: string }) {
  const { refusal, done } = useRefusal()
  const [edited, edit] = useState<Domain | 'new'>()
  const [removed, remove] = useState<Domain>()
  const { answer, failure, isComing } = useAnswer<Domain[]>('/domains', { againMs: seldomMs })
  const mayChange = may('links:write')
  return (
    <Panel
      title="Short domains"
      action={mayChange && ['Add a domain', () => edit('new')]}
      failure={failure}
      refusal={refusal}
      isComing={isComing}
    >
      {answer?.length === 0 && (
        <p class="empty">
          No domain yet. Short links can stand under a host of your own, such as go.example.com, which leads to this
          installation.
        </p>
      )}
      <ul>
        {answer?.map((domain) => (
          <li key={domain.id} class="event channel">
            <span class="name">
              <bdi>{domain.host}</bdi>{' '}
              {domain.verified_at !== null && <span class="label">since {time(domain.verified_at, timezone)}</span>}
            </span>
            <span class={domain.status === 'verified' ? 'good' : 'label'}>{domain.status}</span>
            {mayChange && (
              <>
                <button
                  type="button"
                  aria-label={`Verify ${domain.host}`}
                  onClick={async () => done(await send('POST', `/domains/${domain.id}/verify`))}
                >
                  Verify
                </button>
                <ChangeButtons
                  name={domain.host}
                  ends="Remove"
                  change={() => edit(domain)}
                  end={() => remove(domain)}
                />
              </>
            )}
            {(domain.status === 'pending' || domain.failure !== null) && <Proof domain={domain} />}
          </li>
        ))}
      </ul>
      {edited && (
        <DomainForm
          edited={edited === 'new' ? undefined : edited}
          close={() => edit(undefined)}
          made={(made) => done({ made })}
        />
      )}
      {removed && (
        <Removal
          title="Remove this domain"
          verb="Remove"
          path={`/domains/${removed.id}`}
          close={() => remove(undefined)}
          done={done}
        >
          <bdi>{removed.host}</bdi> serves no links any more, and archived links under it stop working, until the domain
          is added and verified again.
        </Removal>
      )}
    </Panel>
  )
}

function Proof({ domain: { record, failure } }: { readonly domain: Domain }) {
  return (
    <div class="proof">
      <p class="note">
        {failure !== null && <b>{failures[failure]} </b>}This record in the DNS proves the domain. Then verify it.
      </p>
      <Facts
        facts={[
          ['Type', record.type],
          ['Name', record.name],
          ['Value', record.value],
        ]}
      />
      <div class="controls">
        <Copy text={record.name} label="Copy the name" />
        <Copy text={record.value} label="Copy the value" />
      </div>
    </div>
  )
}

interface FormProps {
  readonly edited: Domain | undefined
  close(): void
  made(domain: Domain): void
}

function DomainForm({ edited, close, made }: FormProps) {
  const [before] = useState(edited)
  const submit = (data: FormData) => {
    const urls = {
      root_url: String(data.get('root_url')) || null,
      not_found_url: String(data.get('not_found_url')) || null,
    }
    if (before !== undefined) return send<Domain>('PATCH', `/domains/${before.id}`, changesOf(urls, before))
    return send<Domain>('POST', '/domains', { host: data.get('host'), ...urls })
  }
  const title = before === undefined ? 'Add a short domain' : `Change ${before.host}`
  return (
    <FormDialog title={title} verb={before === undefined ? 'Add' : 'Save'} close={close} made={made} submit={submit}>
      {before === undefined && (
        <label>
          Host
          <input name="host" placeholder="go.example.com" required />
        </label>
      )}
      <label>
        The root leads to (empty: a page that says there is no link)
        <input name="root_url" type="url" placeholder="https://example.com/" defaultValue={before?.root_url ?? ''} />
      </label>
      <label>
        Unknown links lead to (empty: the same page)
        <input
          name="not_found_url"
          type="url"
          placeholder="https://example.com/"
          defaultValue={before?.not_found_url ?? ''}
        />
      </label>
    </FormDialog>
  )
}
