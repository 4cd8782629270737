/** The dashboard: who is signed in or has a shared link, where the address is, and the page for it. */
import { render } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import './theme.css'
import { readView, type View, writeView } from './address.ts'
import { Later, type Page } from './later.tsx'
import { OverviewPage } from './overview.tsx'
import type { Workspace } from './overview-data.ts'
import { Failure, PageLink } from './parts.tsx'
import { useAnswer } from './query.ts'
import { showWorkspace } from './request.ts'
import { home, isShared, linkFragment } from './shared-page.ts'
import { focusOn, KeysDialog, usePageKeys } from './shortcuts.tsx'
import { mayLeave } from './unsaved.ts'
import { WorkspaceName } from './workspaces.tsx'

const pages = {
  '/dashboard': 'Overview',
  '/dashboard/funnels': 'Funnels',
  '/dashboard/retention': 'Retention',
  '/dashboard/people': 'People',
  '/dashboard/replays': 'Replays',
  '/dashboard/posts': 'Posts',
  '/dashboard/links': 'Links',
  '/dashboard/company': 'Company',
  '/dashboard/settings': 'Settings',
} as const
/** Each with a file of its own. */
const chunks: Readonly<Record<string, () => Promise<Page>>> = {
  '/dashboard/funnels': () => import('./funnels.tsx').then(({ FunnelsPage }) => FunnelsPage),
  '/dashboard/retention': () => import('./retention.tsx').then(({ RetentionPage }) => RetentionPage),
  '/dashboard/people': () => import('./people.tsx').then(({ PeoplePage }) => PeoplePage),
  '/dashboard/replays': () => import('./replays.tsx').then(({ ReplaysPage }) => ReplaysPage),
  '/dashboard/posts': () => import('./posts.tsx').then(({ PostsPage }) => PostsPage),
  '/dashboard/links': () => import('./links.tsx').then(({ LinksPage }) => LinksPage),
  '/dashboard/company': () => import('./profile.tsx').then(({ ProfilePage }) => ProfilePage),
  '/dashboard/settings': () => import('./settings.tsx').then(({ SettingsPage }) => SettingsPage),
}
/** Behind the key G. */
const pageKeys: Readonly<Record<string, keyof typeof pages>> = {
  ...{
    o: '/dashboard',
    f: '/dashboard/funnels',
    e: '/dashboard/retention',
    p: '/dashboard/people',
    r: '/dashboard/replays',
  },
  s: '/dashboard/posts',
  ...{ l: '/dashboard/links', c: '/dashboard/company', t: '/dashboard/settings' },
}
const secondKeyWithinMs = 1_500

function App() {
  const [{ pathname, search }, setPlace] = useState(placeOf)
  const { answer: workspace, failure } = useAnswer<Workspace>('/workspace')
  if (workspace !== undefined) showWorkspace(workspace.id)
  useEffect(() => {
    const onBack = () => setPlace(placeOf)
    addEventListener('popstate', onBack)
    // Another link was put into the address.
    if (isShared) addEventListener('hashchange', () => location.reload())
    return () => removeEventListener('popstate', onBack)
  }, [])
  const navigate = useCallback((path: string) => {
    if (!mayLeave()) return
    history.pushState(null, '', path)
    setPlace(placeOf)
  }, [])
  useEffect(() => {
    if (workspace) document.title = [...(isShared ? [] : [nameOf(pathname)]), workspace.name].join(' · ')
  }, [pathname, workspace?.name])
  const [hasHelp, setHelp] = useState(false)
  useGoKeys(navigate, () => setHelp(true))
  const go = useCallback((view: View) => navigate(home + writeView(view) + linkFragment()), [navigate])
  return (
    <>
      <header>
        <h1>{workspace ? <WorkspaceName id={workspace.id} name={workspace.name} /> : 'Dashboard'}</h1>
        {!isShared && (
          <nav aria-label="Pages">
            {Object.entries(pages).map(([path, name]) => (
              <PageLink key={path} path={withView(path)} isCurrent={path === pathname} navigate={navigate}>
                {name}
              </PageLink>
            ))}
          </nav>
        )}
        <button type="button" class="link" onClick={() => setHelp(true)}>
          Shortcuts
        </button>
        {!isShared && (
          <form method="post" action="/dashboard/sign-out">
            <button type="submit">Sign out</button>
          </form>
        )}
      </header>
      {hasHelp && <KeysDialog close={() => setHelp(false)} />}
      {failure && (workspace === undefined || failure.isMissing) ? (
        <main>
          <Failure {...failure} />
        </main>
      ) : (
        workspace && pageOf()
      )}
    </>
  )

  function pageOf() {
    const shown = { workspace: workspace!, navigate }
    const load = Object.hasOwn(chunks, pathname) ? chunks[pathname] : undefined
    if (load !== undefined) return <Later key={pathname} load={load} search={search} {...shown} />
    if (pathname !== home) return <NoPage navigate={navigate} />
    return <OverviewPage view={readView(search)} workspace={workspace!} go={go} />
  }
}

function nameOf(path: string): string {
  return Object.hasOwn(pages, path) ? pages[path as keyof typeof pages] : 'Page not found'
}

function NoPage({ navigate }: { navigate(path: string): void }) {
  return (
    <main>
      <section class="panel install" aria-label="Page not found">
        <h2>Page not found</h2>
        <PageLink path="/dashboard" navigate={navigate}>
          Go to the overview
        </PageLink>
      </section>
    </main>
  )
}

/** Keys of every page. A second key after G isn't the overview's. */
function useGoKeys(navigate: (path: string) => void, help: () => void): void {
  const goAt = useRef(0)
  useEffect(() => {
    const onSecond = (event: KeyboardEvent) => {
      const path =
        !isShared && Date.now() - goAt.current < secondKeyWithinMs ? pageKeys[event.key.toLowerCase()] : undefined
      goAt.current = 0
      if (path === undefined) return
      event.stopImmediatePropagation()
      navigate(withView(path))
    }
    addEventListener('keydown', onSecond, { capture: true })
    return () => removeEventListener('keydown', onSecond, { capture: true })
  }, [navigate])
  usePageKeys((key, event) => {
    if (key === 'g') goAt.current = Date.now()
    else if (key === '?') help()
    else if (key === '/') focusOn('input[type="search"]', event)
  })
}

/** Between the pages that have range and filters, these go along. */
function withView(path: string): string {
  const { pathname, search } = placeOf()
  const has = (one: string) => ['/dashboard', '/dashboard/funnels', '/dashboard/retention'].includes(one)
  return path !== pathname && has(path) && has(pathname) ? path + writeView(readView(search)) : path
}

function placeOf() {
  return { pathname: location.pathname.replace(/\/$/, ''), search: location.search }
}

render(<App />, document.getElementById('app')!)
