/** Costs of imported ads in the range, and the revenue that their campaigns brought in. */

import { amountsText, brief, fittingMoney, money, number } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import type { Overview } from '../requests/answers.ts'
import { type Filter, filterOf } from '../view/address.ts'

type Campaign = Overview['metrics']['ad_campaigns'][number]

interface AdsProps {
  readonly metrics: Overview['metrics']
  readonly currency: string
  add(...filters: Filter[]): void
}

/** Nothing without imported costs, and with filters: costs know none of what is filtered by. */
export function Ads({ metrics, currency, add }: AdsProps) {
  const { ad_campaigns: campaigns, ad_spend_cents: spent, ad_spend_by_currency: spentApart } = metrics
  if (campaigns.length === 0) return null
  const apart = amountsText(spentApart)
  return (
    <Panel title="Ads" label={`${money(spent ?? 0, currency)} spent`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys too */}
      <section class="scrolled" aria-label="Ads, all columns" tabIndex={0}>
        <table class="all ads">
          <thead>
            <tr>
              <th scope="col">Campaign</th>
              <th scope="col">Cost</th>
              <th scope="col">Clicks</th>
              <th scope="col">Revenue</th>
              <th scope="col" title="Revenue for each unit of cost">
                Return
              </th>
            </tr>
          </thead>
          <tbody>
            {campaigns.map((one) => (
              <Row key={JSON.stringify([one.source, one.campaign])} currency={currency} add={add} of={one} />
            ))}
          </tbody>
        </table>
      </section>
      {apart !== '' && (
        <p class="note">
          These costs aren’t in it, as no exchange rate is known: {apart}. Import rates by{' '}
          <code>npx svc revenue rates</code>.
        </p>
      )}
    </Panel>
  )
}

function Row({ of, currency, add }: Omit<AdsProps, 'metrics'> & { of: Campaign }) {
  const { source, campaign, cost_cents, clicks, revenue_cents } = of
  const filters = [filterOf('source', source), ...(campaign === '' ? [] : [filterOf('campaign', campaign)])]
  return (
    <tr>
      <th scope="row">
        <button type="button" class="link" title={`${campaign}\n${source}`.trim()} onClick={() => add(...filters)}>
          <bdi>{campaign || source}</bdi>
          {campaign !== '' && (
            <>
              {' '}
              <bdi class="label">{source}</bdi>
            </>
          )}
        </button>
      </th>
      <td title={money(cost_cents, currency)}>{fittingMoney(cost_cents, currency)}</td>
      <td title={number(clicks)}>{brief(clicks)}</td>
      <td title={money(revenue_cents, currency)}>{fittingMoney(revenue_cents, currency)}</td>
      <td>{cost_cents === 0 ? '–' : returnOf(revenue_cents / cost_cents)}</td>
    </tr>
  )
}

/** Small ones by hundredths. */
function returnOf(ratio: number): string {
  const steps = ratio < 1 ? 100 : 10
  return `${number(Math.round(ratio * steps) / steps)}×`
}
