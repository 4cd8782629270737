/** The overview as the API gives it, asked again while it is looked at. */
import { useEffect, useState } from 'preact/hooks'
import type { AnalyticsOverview, OverviewMetrics } from '../../schemas/resources/overview.ts'

export interface Overview extends AnalyticsOverview {
  readonly metrics: OverviewMetrics
}

export interface Workspace {
  readonly name: string
  readonly timezone: string
  readonly currency: string
}

export interface Asked<Answer> {
  /** The newest answer, also while another one is awaited. */
  readonly answer: Answer | undefined
  /** Since when answers fail, and why. */
  readonly failure: { readonly since: Date; readonly text: string } | undefined
  /** The answer is of another question than the one that is asked. */
  readonly isStale: boolean
}

const againMs = 5_000
/** A page that waits for the first event is told of it sooner. */
const soonAgainMs = 1_000

/** @param path with its query, under `/api/v1` @param isHurried whether it is asked again soon */
export function useAnswer<Answer>(path: string, isHurried: (answer: Answer) => boolean = () => false): Asked<Answer> {
  const [known, setKnown] = useState<{ path: string; answer: Answer }>()
  const [failure, setFailure] = useState<Asked<Answer>['failure']>()
  useEffect(() => {
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined

    async function ask(): Promise<void> {
      let again = againMs
      try {
        const response = await fetch(`/api/v1${path}`, { signal: leaving.signal })
        if (response.status === 401) return location.assign('/dashboard/sign-in')
        const body = await response.json()
        if (!response.ok) throw new Error(String(body.detail ?? response.status))
        setKnown({ path, answer: body as Answer })
        setFailure(undefined)
        if (isHurried(body as Answer)) again = soonAgainMs
      } catch (error) {
        if (leaving.signal.aborted) return
        setFailure((before) => ({ since: before?.since ?? new Date(), text: (error as Error).message }))
      }
      timer = setTimeout(askWhenSeen, again)
    }

    function askWhenSeen(): void {
      if (document.visibilityState === 'visible') void ask()
      else document.addEventListener('visibilitychange', askWhenSeen, { once: true, signal: leaving.signal })
    }

    void ask()
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [path])
  return { answer: known?.answer, failure, isStale: known !== undefined && known.path !== path }
}
