/** The dashboard: who is signed in or has a shared link, where the address is, and the page for it. */
import { render } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { figurePages } from '../../schemas/shared-pages.ts'
import { withoutWorkspace } from '../../schemas/workspace-address.ts'
import './theme.css'
import { OverviewPage } from './overview/overview.tsx'
import { Failure } from './parts/failure.tsx'
import { showTimezone } from './parts/format.ts'
import { LateRefusal } from './parts/late-refusal.tsx'
import { PageLink } from './parts/page-link.tsx'
import { WaitingCount } from './posts/waiting-count.tsx'
import type { Workspace } from './requests/answers.ts'
import { signOutSent, useAnswer } from './requests/query.ts'
import { showWorkspace } from './requests/request.ts'
import { SigningIn } from './settings/signing-in.tsx'
import { closeMarks } from './shell/closed-marks.ts'
import { follow, isShown, pushAddress, replaceAddress } from './shell/history-entries.ts'
import { blockDisabledClicks, focusMain, keepFocus } from './shell/kept-focus.ts'
import { keyName } from './shell/key-name.ts'
import { LazyPage, type Page } from './shell/lazy-page.tsx'
import { type Joined, showRole } from './shell/may.ts'
import { addressOf, isShared, nameWorkspace, pageAt } from './shell/shared-page.ts'
import { clickByAltEnter, focusOn, isForPage, KeysDialog, usePageKeys } from './shell/shortcuts.tsx'
import { mayLeave } from './shell/unsaved.ts'
import { WorkspaceName } from './shell/workspaces.tsx'
import { readView, type View, writeView } from './view/address.ts'

const pages = {
  '/dashboard': 'Overview',
  '/dashboard/events': 'Events',
  '/dashboard/funnels': 'Funnels',
  '/dashboard/retention': 'Retention',
  '/dashboard/people': 'People',
  '/dashboard/replays': 'Replays',
  '/dashboard/click-map': 'Click map',
  '/dashboard/posts': 'Posts',
  '/dashboard/links': 'Links',
  '/dashboard/company': 'Company',
  '/dashboard/settings': 'Settings',
  '/dashboard/workspaces': 'All workspaces',
  '/dashboard/connect': 'Connect an account',
} as const
/** Needs no workspace. The choice at the top leads to it. */
const allWorkspacesPath = '/dashboard/workspaces'
const shownPages = Object.entries(pages).filter(([path]) => !isShared || figurePages.includes(path))
/** A page's report and the replays lead to it. */
const clickMapPath = '/dashboard/click-map'
/** Platforms send the browser there after a sign-in. */
const connectPath = '/dashboard/connect'
const withoutLink: readonly string[] = [allWorkspacesPath, clickMapPath, connectPath]
const navPages = shownPages.filter(([path]) => !withoutLink.includes(path))
const loadAllWorkspaces = () => import('./all-workspaces.tsx').then(({ AllWorkspacesPage }) => AllWorkspacesPage)
/** Each with a file of its own. */
const chunks: Readonly<Record<string, () => Promise<Page>>> = {
  '/dashboard/events': () => import('./events/events.tsx').then(({ EventsPage }) => EventsPage),
  '/dashboard/funnels': () => import('./funnels/funnels.tsx').then(({ FunnelsPage }) => FunnelsPage),
  '/dashboard/retention': () => import('./retention/retention.tsx').then(({ RetentionPage }) => RetentionPage),
  '/dashboard/people': () => import('./people/people.tsx').then(({ PeoplePage }) => PeoplePage),
  '/dashboard/replays': () => import('./replays/replays.tsx').then(({ ReplaysPage }) => ReplaysPage),
  [clickMapPath]: () => import('./click-map/click-map.tsx').then(({ ClickMapPage }) => ClickMapPage),
  '/dashboard/posts': () => import('./posts/posts.tsx').then(({ PostsPage }) => PostsPage),
  '/dashboard/links': () => import('./links/links.tsx').then(({ LinksPage }) => LinksPage),
  '/dashboard/company': () => import('./profile.tsx').then(({ ProfilePage }) => ProfilePage),
  [connectPath]: () => import('./accounts/connect.tsx').then(({ ConnectPage }) => ConnectPage),
  '/dashboard/settings': () => import('./settings/settings.tsx').then(({ SettingsPage }) => SettingsPage),
}
/** Behind the key G. */
const pageKeys: Readonly<Record<string, keyof typeof pages>> = {
  o: '/dashboard',
  v: '/dashboard/events',
  f: '/dashboard/funnels',
  e: '/dashboard/retention',
  p: '/dashboard/people',
  r: '/dashboard/replays',
  s: '/dashboard/posts',
  l: '/dashboard/links',
  c: '/dashboard/company',
  t: '/dashboard/settings',
  w: allWorkspacesPath,
}
const secondKeyWithinMs = 1_500
/** Until a page follows another role. */
const roleMs = 60_000

function App() {
  const [{ pathname, search }, setPlace] = useState(placeOf)
  const { answer: workspace, failure: ofWorkspace } = useAnswer<Workspace>('/workspace')
  const { answer: joined, failure: ofJoined } = useAnswer<Joined[]>(isShared ? undefined : '/workspaces', {
    againMs: roleMs,
  })
  // Without a plan the workspace isn't shown, but its members may still leave it.
  const current = joined?.find(({ id, is_current }) => (workspace === undefined ? is_current : id === workspace.id))
  const shownId = (workspace ?? current)?.id
  if (shownId !== undefined) showWorkspace(shownId)
  const namedId = joined !== undefined && joined.length > 1 ? shownId : undefined
  nameWorkspace(namedId)
  useEffect(() => {
    // An address without a name is of the workspace that was opened last.
    if (!isShared && joined !== undefined)
      replaceAddress(addressOf(withoutWorkspace(location.pathname + location.search) + location.hash))
  }, [namedId, joined === undefined])
  if (workspace !== undefined) showTimezone(workspace.timezone)
  showRole(current)
  const isKnown = workspace !== undefined && (isShared || joined !== undefined)
  const failure = ofWorkspace ?? (isKnown ? undefined : ofJoined)
  // Before anything of the page is seen, as its keys are: a quick Back is followed, too.
  useLayoutEffect(() => {
    const onBack = () => {
      if (follow(() => mayLeave(location.pathname))) setPlace(placeOf)
    }
    addEventListener('popstate', onBack)
    // Another link was put into the address.
    if (isShared) addEventListener('hashchange', () => location.reload())
    return () => removeEventListener('popstate', onBack)
  }, [])
  const navigate = useCallback((path: string) => {
    const address = addressOf(path)
    if (isShown(address) || !mayLeave(path)) return
    const before = location.pathname
    pushAddress(address)
    // By keys somebody goes from far down; Back and Forward lead where the page was, as the browser does it.
    if (location.pathname !== before) scrollTo(0, 0)
    setPlace(placeOf)
  }, [])
  useEffect(() => {
    if (workspace) document.title = [nameOf(pathname), workspace.name].join(' · ')
  }, [pathname, workspace?.name])
  const [hasHelp, setHelp] = useState(false)
  useGoKeys(navigate, () => setHelp(true))
  const go = useCallback((view: View) => navigate(`/dashboard${writeView(view)}`), [navigate])
  return (
    <>
      <header>
        <button type="button" class="skip" onClick={focusMain}>
          Skip to the content
        </button>
        <p class="unseen" role="status">
          {nameOf(pathname)}
        </p>
        <h1>
          <WorkspaceName shown={workspace ?? current} joined={joined} showAll={() => navigate(allWorkspacesPath)} />
        </h1>
        <nav aria-label="Pages">
          {navPages.map(([path, name]) => (
            <PageLink key={path} path={withView(path)} isCurrent={path === pathname} navigate={navigate}>
              {name}
              {path === '/dashboard/posts' && <WaitingCount />}
            </PageLink>
          ))}
        </nav>
        <button type="button" class="link" onClick={() => setHelp(true)}>
          Shortcuts
        </button>
        {!isShared && (
          <form method="post" action="/dashboard/sign-out" onSubmit={signOutSent}>
            <button type="submit">Sign out</button>
          </form>
        )}
      </header>
      <LateRefusal />
      {hasHelp && <KeysDialog close={() => setHelp(false)} />}
      {!isShared && pathname === allWorkspacesPath && joined !== undefined ? (
        <LazyPage key={pathname} load={loadAllWorkspaces} props={{}} />
      ) : failure && (!isKnown || failure.isMissing) ? (
        <main>
          <Failure {...failure} />
          {workspace === undefined && current !== undefined && <SigningIn />}
        </main>
      ) : (
        isKnown && pageOf()
      )}
    </>
  )

  function pageOf() {
    if (!shownPages.some(([path]) => path === pathname)) return <NoPage navigate={navigate} />
    const load = chunks[pathname]
    const props = { search, workspace: workspace!, navigate }
    if (load !== undefined) return <LazyPage key={pathname} load={load} props={props} />
    return <OverviewPage view={readView(search)} workspace={workspace!} navigate={navigate} go={go} />
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
  useLayoutEffect(() => {
    const onSecond = (event: KeyboardEvent) => {
      const isSecond = Date.now() - goAt.current < secondKeyWithinMs && isForPage(event)
      const path = isSecond ? pageKeys[keyName(event)] : undefined
      goAt.current = 0
      if (path === undefined || !shownPages.some(([shown]) => shown === path)) return
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

function withView(path: string): string {
  const { pathname, search } = placeOf()
  const isAlong = path !== pathname && figurePages.includes(path) && figurePages.includes(pathname)
  return isAlong ? path + writeView(readView(search)) : path
}

function placeOf() {
  return { pathname: pageAt(location.pathname), search: withoutWorkspace(location.search) }
}

closeMarks()
keepFocus()
blockDisabledClicks()
clickByAltEnter()
render(<App />, document.getElementById('app')!)
