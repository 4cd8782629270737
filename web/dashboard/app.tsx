/** The dashboard: who is signed in, what the address says, and the page for it. */
import { render } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import './theme.css'
import { readView, type View, writeView } from './address.ts'
import { OverviewPage } from './overview.tsx'
import { useAnswer, type Workspace } from './overview-data.ts'

function App() {
  const [search, setSearch] = useState(location.search)
  const { answer: workspace } = useAnswer<Workspace>('/workspace')
  useEffect(() => {
    const onBack = () => setSearch(location.search)
    addEventListener('popstate', onBack)
    return () => removeEventListener('popstate', onBack)
  }, [])
  const go = useCallback((view: View) => {
    history.pushState(null, '', `/dashboard${writeView(view)}`)
    setSearch(location.search)
  }, [])
  return (
    <>
      <header>
        <h1>
          <bdi>{workspace?.name ?? 'Dashboard'}</bdi>
        </h1>
        <form method="post" action="/dashboard/sign-out">
          <button type="submit">Sign out</button>
        </form>
      </header>
      {workspace && <OverviewPage view={readView(search)} workspace={workspace} go={go} />}
    </>
  )
}

render(<App />, document.getElementById('app')!)
