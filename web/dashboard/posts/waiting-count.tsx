/** How many posts wait for the approval of whoever is signed in, beside the name of their page. */

import { useAnswer } from '../requests/query.ts'
import { may } from '../shell/may.ts'

const againMs = 60_000
/** More are shown as that many. */
const countedMax = 10

export function WaitingCount() {
  const asked = may('posts:publish') ? `/posts?review=waiting&limit=${countedMax}` : undefined
  const { answer } = useAnswer<readonly unknown[]>(asked, { againMs })
  if (answer === undefined || answer.length === 0) return null
  return (
    <span class="label" title="Posts that wait for approval">
      {' '}
      {answer.length < countedMax ? answer.length : `${countedMax - 1}+`}
    </span>
  )
}
