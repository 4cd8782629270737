/** Which sites of Google Search Console the workspace has search terms of, or how one is connected. */
import type { SearchTerms } from '../../../schemas/resources/search-terms.ts'
import { Copy } from '../parts/copy.tsx'
import { Facts } from '../parts/facts.tsx'
import { daysInWords } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { useAnswer } from '../requests/query.ts'

const seldomMs = 60_000

export function SearchSites({ workspaceId }: { workspaceId: number }) {
  const { answer, failure, isComing } = useAnswer<SearchTerms>('/analytics/search?days=1&limit=1&compare=none', {
    againMs: seldomMs,
  })
  const command = `npx svc search connect --workspace ${workspaceId} --site sc-domain:example.com --credentials key.json`
  return (
    <Panel title="Search terms" failure={failure} isComing={isComing}>
      {answer && answer.sites.length > 0 && <Facts facts={answer.sites.map((site) => [site.site, stateOf(site)])} />}
      {answer !== undefined && answer.state !== 'active' && answer.state !== 'loading' && (
        <>
          <p class="note">
            {answer.state === 'not_connected'
              ? 'See which Google searches lead to the site. '
              : 'Google no longer accepts a key. Connect its site again. '}
            On the machine, run this with a key from Google’s console (see{' '}
            <a href="/guides/search-console" target="_blank" rel="noreferrer">
              how to get one
            </a>
            ):
          </p>
          <p>
            <code>{command}</code> <Copy text={command} label="Copy the command" />
          </p>
        </>
      )}
    </Panel>
  )
}

function stateOf({ state, data_through: through, last_error: error }: SearchTerms['sites'][number]): string {
  const known = through === null ? 'no figures yet' : `through ${daysInWords({ from: through, to: through })}`
  return [state.replaceAll('_', ' '), known, error].filter(Boolean).join(', ')
}
