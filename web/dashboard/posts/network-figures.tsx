/** Likes, comments, shares and views of a publication, as its network counts them. */
import type { PostWithPerformance } from '../../../schemas/resources/post.ts'
import { number, time } from '../parts/format.ts'

const counted = { likes: 'like', comments: 'comment', shares: 'share', views: 'view' } as const
type Counts = Readonly<Record<keyof typeof counted, number | null>>

/** Such as `7 likes`, `1 comment`; counts that the network doesn't give are left out. */
export function wordsOf(counts: Counts): string[] {
  return Object.entries(counted).flatMap(([name, one]) => {
    const count = counts[name as keyof Counts]
    return count === null ? [] : [`${number(count)} ${count === 1 ? one : name}`]
  })
}

type Engagement = NonNullable<(typeof PostWithPerformance)['_output']['targets'][number]['engagement']>

export function OnNetwork({ engagement, timezone }: { engagement: Engagement; timezone: string }) {
  const { read_at, gone_at } = engagement
  const words = [...wordsOf(engagement), ...(gone_at === null ? [] : ['no longer there'])]
  const at = gone_at ?? read_at
  return (
    <span class="label" title={at === null ? undefined : `As of ${time(at, timezone)}`}>
      {words.join(', ')}
    </span>
  )
}
