/** The dashboard: who is signed in, where the address is, and the page for it. */
import { render } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import './theme.css'
import { readView, type View, writeView } from './address.ts'
import { LinksPage } from './links.tsx'
import { OverviewPage } from './overview.tsx'
import type { Workspace } from './overview-data.ts'
import { Failure } from './parts.tsx'
import { PeoplePage } from './people.tsx'
import { PostsPage } from './posts.tsx'
import { ProfilePage } from './profile.tsx'
import { useAnswer } from './query.ts'

const pages = {
  '/dashboard': 'Overview',
  '/dashboard/people': 'People',
  '/dashboard/posts': 'Posts',
  '/dashboard/links': 'Links',
  '/dashboard/company': 'Company',
} as const

function App() {
  const [{ pathname, search }, setPlace] = useState(placeOf)
  const { answer: workspace, failure } = useAnswer<Workspace>('/workspace')
  useEffect(() => {
    const onBack = () => setPlace(placeOf)
    addEventListener('popstate', onBack)
    return () => removeEventListener('popstate', onBack)
  }, [])
  const navigate = useCallback((path: string) => {
    history.pushState(null, '', path)
    setPlace(placeOf)
  }, [])
  const go = useCallback((view: View) => navigate(`/dashboard${writeView(view)}`), [navigate])
  return (
    <>
      <header>
        <h1>
          <bdi>{workspace?.name ?? 'Dashboard'}</bdi>
        </h1>
        <nav aria-label="Pages">
          {Object.entries(pages).map(([path, name]) => (
            <a
              key={path}
              href={path}
              aria-current={path === pathname ? 'page' : undefined}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return
                event.preventDefault()
                navigate(path)
              }}
            >
              {name}
            </a>
          ))}
        </nav>
        <form method="post" action="/dashboard/sign-out">
          <button type="submit">Sign out</button>
        </form>
      </header>
      {workspace === undefined && failure && <Failure {...failure} />}
      {workspace && pageOf()}
    </>
  )

  function pageOf() {
    const shown = { workspace: workspace!, navigate }
    if (pathname === '/dashboard/people') return <PeoplePage search={search} {...shown} />
    if (pathname === '/dashboard/posts') return <PostsPage {...shown} />
    if (pathname === '/dashboard/links') return <LinksPage {...shown} />
    if (pathname === '/dashboard/company') return <ProfilePage {...shown} />
    return <OverviewPage view={readView(search)} workspace={workspace!} go={go} />
  }
}

function placeOf() {
  return { pathname: location.pathname.replace(/\/$/, ''), search: location.search }
}

render(<App />, document.getElementById('app')!)
