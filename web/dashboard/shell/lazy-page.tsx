/** A page whose script comes once somebody goes there. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure } from '../parts/failure.tsx'
import type { Workspace } from '../requests/answers.ts'

export interface PageProps {
  /** The address's query. */
  readonly search: string
  readonly workspace: Workspace
  /** To another address of the dashboard. */
  navigate(path: string): void
}
export type Page = ComponentType<PageProps>

interface LazyPageProps<Props> {
  load(): Promise<ComponentType<Props>>
  /** Those of the page. */
  readonly props: Props
}

export function LazyPage<Props extends object>({ load, props }: LazyPageProps<Props>) {
  const [loaded, setLoaded] = useState<{ readonly page: ComponentType<Props> }>()
  const [since, setSince] = useState<Date>()
  useEffect(() => {
    load().then(
      (page) => setLoaded({ page }),
      () => setSince(new Date()),
    )
  }, [])
  useEffect(() => {
    if (since === undefined) return
    // Browsers may keep the failure of a script as long as the page lives.
    const reload = () => location.reload()
    addEventListener('online', reload)
    return () => removeEventListener('online', reload)
  }, [since])
  if (since !== undefined)
    return (
      <main>
        <Failure
          since={since}
          isRefused={false}
          isMissing={false}
          isFinal
          text="the page’s script couldn’t be loaded. Reload the page"
        />
      </main>
    )
  if (loaded === undefined) return <main class="skeleton" aria-busy="true" aria-label="Loading" />
  return <loaded.page {...props} />
}
