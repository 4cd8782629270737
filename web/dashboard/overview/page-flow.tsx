/** The pages that were viewed right before and after the page that the overview is filtered by. A click on one goes on to it. */
import { useEffect, useRef } from 'preact/hooks'
import type { PageFlow } from '../../../schemas/resources/page-flow.ts'
import { exactPathOf, writeMapped } from '../click-map/click-map-address.ts'
import { Failure } from '../parts/failure.tsx'
import { number, percent } from '../parts/format.ts'
import { PageLink } from '../parts/page-link.tsx'
import { useAnswer } from '../requests/query.ts'
import { useAnswered } from '../requests/use-answered.ts'
import { isShared } from '../shell/shared-page.ts'
import { listQuestionOf, pageOf, shownValue, type View, withPage } from '../view/address.ts'
import { namelessOf } from './list-kinds.ts'

/** It reads many events: it is asked for less often than the overview. */
const againMs = 15_000

interface PageFlowProps {
  readonly view: View
  go(view: View): void
  /** To another address of the dashboard. */
  navigate(path: string): void
}

export function PageFlowPanel({ view, go, navigate }: PageFlowProps) {
  const page = pageOf(view)
  const question = page === undefined ? undefined : `/analytics/flow?${listQuestionOf(view)}`
  const { answer: newest, failure, isStale } = useAnswer<PageFlow>(question, { againMs })
  const answer = useAnswered(page, isStale) === page ? newest : undefined
  const heading = useRef<HTMLHeadingElement>(null)
  const isGoingOn = useRef(false)
  // The row that was chosen may be gone: the keyboard goes on from the next page’s name.
  useEffect(() => {
    if (isGoingOn.current) heading.current?.focus()
    isGoingOn.current = false
  }, [page])
  if (page === undefined) return null
  const exact = exactPathOf(page)
  const choose = (path: string) => {
    isGoingOn.current = true
    go(withPage(view, path))
  }
  return (
    <section class="panel flow" aria-label="Before and after" aria-busy={isStale}>
      <h2 ref={heading} tabIndex={-1}>
        <span>
          Before and after <bdi>{shownValue(page)}</bdi>
        </span>
        {exact !== undefined && !isShared && (
          <PageLink path={writeMapped(view, { path: exact, device: 'desktop' })} navigate={navigate}>
            Click map
          </PageLink>
        )}
        <span class="label">Views</span>
      </h2>
      {failure && <Failure {...failure} />}
      {answer === undefined && !failure && <p class="empty awaited">…</p>}
      {answer?.views === 0 && <p class="empty">Nothing in this range.</p>}
      {answer !== undefined && answer.views > 0 && (
        <>
          <div class="columns">
            <Side title="Before" noPage="The session began here" side={answer.before} choose={choose} />
            <Side title="After" noPage="The session ended here" side={answer.after} choose={choose} />
          </div>
          <p class="note">Shares are of {number(answer.views)} views. A reload counts with the view before it.</p>
        </>
      )}
    </section>
  )
}

interface SideProps {
  readonly title: string
  /** The row of sessions that have no page there. */
  readonly noPage: string
  readonly side: PageFlow['before']
  choose(path: string): void
}

function Side({ title, noPage, side: { rows, other }, choose }: SideProps) {
  return (
    <div>
      <h3>{title}</h3>
      <ul aria-label={title}>
        {rows.map(({ path, views, share }) => {
          const inside = (
            <>
              <span class="bar" style={{ width: `${share}%` }} aria-hidden="true" />
              <span class="name">{path === null ? noPage : <bdi>{path || namelessOf('path')}</bdi>}</span>
              <span class="number">{number(views)}</span>
              <span class="share">{percent(share)}</span>
            </>
          )
          if (path === null || path === '')
            return (
              <li key={String(path)} class="row">
                {inside}
              </li>
            )
          return (
            <li key={path}>
              <button type="button" class="row" title={`${path}\nClick to go on to it`} onClick={() => choose(path)}>
                {inside}
              </button>
            </li>
          )
        })}
        {other > 0 && (
          <li class="row">
            <span class="name">Other pages</span>
            <span class="number">{number(other)}</span>
            <span class="share" />
          </li>
        )}
      </ul>
    </div>
  )
}
