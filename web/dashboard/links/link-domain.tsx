/** The short domain of a link: chosen for a new one, and to show the links under it. */
import type { ShortDomain } from '../../../schemas/resources/short-domain.ts'
import { useAnswer } from '../requests/query.ts'
import { addressWith } from '../shell/address-with.ts'

const seldomMs = 60_000

/** The workspace's verified ones. */
function useHosts(): readonly string[] {
  const { answer } = useAnswer<(typeof ShortDomain)['_output'][]>('/domains', { againMs: seldomMs })
  return answer?.filter(({ status }) => status === 'verified').map(({ host }) => host) ?? []
}

/** The domain of a new link, where the workspace has a verified one. */
export function DomainField() {
  const hosts = useHosts()
  if (hosts.length === 0) return null
  return (
    <label>
      Domain{' '}
      <select name="domain">
        <option value="">of this installation</option>
        {hosts.map((host) => (
          <option key={host}>{host}</option>
        ))}
      </select>
    </label>
  )
}

/** Undefined: links under all domains, and under none. */
export function chosenDomain(search: string): string | undefined {
  return new URLSearchParams(search).get('domain') || undefined
}

interface FilterProps {
  /** The address's query, which has the chosen domain. */
  readonly search: string
  navigate(path: string): void
}

export function DomainFilter({ search, navigate }: FilterProps) {
  const chosen = chosenDomain(search)
  const hosts = useHosts()
  const shown = chosen === undefined || hosts.includes(chosen) ? hosts : [chosen, ...hosts]
  if (shown.length === 0) return null
  return (
    <select
      aria-label="Links under a domain"
      value={chosen ?? ''}
      onChange={(event) => navigate(addressWith(search, 'domain', event.currentTarget.value || undefined))}
    >
      <option value="">All domains</option>
      {shown.map((host) => (
        <option key={host}>{host}</option>
      ))}
    </select>
  )
}
