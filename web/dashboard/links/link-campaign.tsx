/**
 * The destination of a tracked link and the campaign's fields beside it: what is typed into a field is written into the
 * destination's query, and what the destination says stands in the fields.
 */
import { useState } from 'preact/hooks'
import { paramOf, withParam } from '../../../schemas/reference/campaign-query.ts'
import type { ListedLink } from '../../../schemas/resources/link.ts'

/** Campaign fields, each with a default for an empty one. A link has no `utm_term` of its own: the destination alone has it. */
const campaignFields = [
  ['utm_source', 'Source', 'svc'],
  ['utm_medium', 'Medium', 'social'],
  ['utm_campaign', 'Campaign', ''],
  ['utm_term', 'Term', ''],
  ['utm_content', 'Content', ''],
] as const
type CampaignField = (typeof campaignFields)[number][0]
type Campaign = Readonly<Record<CampaignField, string>>

/** The names that a form sends. */
export const ownFields = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_content'] as const

type Changed = Pick<(typeof ListedLink)['_output'], 'destination_url' | (typeof ownFields)[number]>

export interface DestinationState {
  readonly destination: string
  readonly campaign: Campaign
  /** Takes a destination as it is being typed. */
  type(destination: string): void
  /** The destination is typed: it gets what was in the fields before. */
  settle(): void
  fill(field: CampaignField, value: string): void
  clear(): void
}

/** @param of the link that is changed; its own parameters win over those of its destination */
export function useDestination(of?: Changed): DestinationState {
  const [destination, setDestination] = useState(of?.destination_url ?? '')
  const [campaign, setCampaign] = useState<Campaign>(() => campaignOf(of))
  /** Fields that were filled while there was no destination. */
  const [waiting, wait] = useState<readonly CampaignField[]>([])
  return {
    destination,
    campaign,
    type(next) {
      const read = campaignFields.map(([name]) => {
        const told = paramOf(next, name)
        const isGone = told === undefined && paramOf(destination, name) !== undefined
        return [name, isGone ? '' : (told ?? campaign[name])]
      })
      setCampaign(Object.fromEntries(read) as Campaign)
      setDestination(next)
    },
    settle() {
      if (destination === '') return
      const missing = waiting.filter((name) => paramOf(destination, name) === undefined)
      setDestination(missing.reduce((url, name) => withParam(url, name, campaign[name]), destination))
      wait([])
    },
    fill(name, value) {
      setCampaign({ ...campaign, [name]: value })
      if (destination === '') wait([...waiting.filter((other) => other !== name), name])
      else setDestination(withParam(destination, name, value))
    },
    clear() {
      setDestination('')
      setCampaign(campaignOf(undefined))
      wait([])
    },
  }
}

function campaignOf(link: Changed | undefined): Campaign {
  const read = campaignFields.map(([name]) => {
    const own = name === 'utm_term' ? '' : link?.[name]
    return [name, own || (link && paramOf(link.destination_url, name)) || '']
  })
  return Object.fromEntries(read) as Campaign
}

/** The input that holds the destination has them. */
export function destinationProps({ destination, type, settle }: DestinationState) {
  return {
    type: 'url' as const,
    placeholder: 'https://example.com/',
    value: destination,
    required: true,
    onChange: settle,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => type(currentTarget.value),
  }
}

/** The fields that a form sends have names. */
export function CampaignFields({ of }: { readonly of: DestinationState }) {
  return (
    <>
      {campaignFields.map(([field, label, usual]) => (
        <label key={field}>
          {label}{' '}
          <input
            name={field === 'utm_term' ? undefined : field}
            placeholder={usual}
            autocapitalize="none"
            value={of.campaign[field]}
            onInput={(event) => of.fill(field, event.currentTarget.value)}
          />
        </label>
      ))}
    </>
  )
}
