/** How to send events: all that a workspace without any shows, and a part of the settings. */

import { useState } from 'preact/hooks'
import { pixelSnippetOf, scriptUrlOf, snippetOf } from '../../../schemas/install-snippet.ts'
import { Copy } from '../parts/copy.tsx'
import { Refusal } from '../parts/failure.tsx'
import { useIsOpen } from '../parts/use-is-open.ts'
import type { Overview } from '../requests/answers.ts'
import { send } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'
import { goToWorkspace } from '../shell/workspaces.tsx'
import { isOfThisMachine, namesThisMachine } from './this-machine.ts'

interface SnippetProps {
  readonly snippet: Pick<Overview['snippet'], 'snippet' | 'script_url' | 'tracking_key'>
}

/** The page turns by itself once the first event is there. */
export function Install({ snippet, workspaceId }: SnippetProps & { readonly workspaceId: number }) {
  return (
    <section class="panel install" aria-label="Install">
      <h2>Waiting for the first event</h2>
      <HowToSend snippet={snippet} />
      {may('workspace:own') && <Demo />}
      {workspaceId === firstWorkspace && isOfThisMachine(location.hostname) && (
        <p>
          Or walk through <a href="/demo/">a small site that has the script</a>.
        </p>
      )}
    </section>
  )
}

/** Only `npm start` serves the small site, and with the key of its first workspace. */
const firstWorkspace = 1

/** Where a demo has no figures later than that, it is an old one whose visits have expired. */
const computedWithinMs = 120_000

/** Whether this tab has just filled the workspace: its visits are stored, and its figures follow. */
export function isJustFilled(workspaceId: number): boolean {
  return Date.now() - Number(sessionStorage.getItem(`filled ${workspaceId}`)) < computedWithinMs
}

/** The page turns by itself once there are figures. */
export function Computing() {
  return (
    <section class="panel install" aria-label="Demo" role="status">
      <h2>The demo’s figures are being computed…</h2>
      <p>They appear here by themselves, in a few seconds.</p>
    </section>
  )
}

/** As long as each tracking key. */
export const keyLike = `svc_pk_${'0'.repeat(24)}`
const scriptLike = scriptUrlOf(location.origin, keyLike)
const snippetLike = { snippet: snippetOf(scriptLike), script_url: scriptLike, tracking_key: keyLike }

/** Before the answer it takes as much room as with it, so that nothing below moves; nobody sees it then. */
export function HowToSendSoon({ snippet }: { readonly snippet: SnippetProps['snippet'] | undefined }) {
  return (
    <div class={snippet ? '' : 'reserved'}>
      <HowToSend snippet={snippet ?? snippetLike} />
    </div>
  )
}

function HowToSend({ snippet: { snippet, script_url, tracking_key } }: SnippetProps) {
  const curl = `curl ${location.origin}/api/v1/growth/track -d '${JSON.stringify({
    tracking_key,
    event_type: 'track',
    event_name: 'pageview',
    url: 'https://example.com/',
    anonymous_id: 'me',
  })}'`
  return (
    <>
      <p>Put this into the head of your pages:</p>
      <Copied text={snippet} name="the snippet" />
      {namesThisMachine(snippet) && (
        <p>
          Its address works on this machine alone. For a site on the internet, whoever runs the service sets{' '}
          <code>API_HOST</code>.
        </p>
      )}
      <p>
        WordPress, Shopify, Tag Manager, Next.js and others: see <a href="/guides/install">where it goes</a>.
      </p>
      <p>
        Consent, downloads, missing pages, searches and events of your own: see{' '}
        <a href="/guides/browser">the browser script</a>. Visits that another product has recorded: see{' '}
        <a href="/guides/import">importing history</a>.
      </p>
      <p>
        For visitors without scripts, put this into the body, too. <a href="/guides/tracking#pixel">The guide</a> has
        images for newsletters and READMEs.
      </p>
      <Copied text={pixelSnippetOf(script_url, tracking_key)} name="the image" />
      <p>Or send one from a terminal:</p>
      <Copied text={curl} name="the line for the terminal" />
      <p>To leave out your own visits, run this in the browser’s console on your site, once in each browser:</p>
      <Copied text="localStorage.svc_off = 1" name="the line for the browser" />
    </>
  )
}

/** Filling takes longer than other writes. */
const fillWithinMs = 120_000

/** A workspace beside this one, with made-up visits. */
function Demo() {
  const [isFilling, setFilling] = useState(false)
  const { refusal, done } = useRefusal()
  const isThere = useIsOpen()
  const fill = async () => {
    setFilling(true)
    const sent = await send<{ id: number }>('POST', '/workspaces/demo', undefined, { withinMs: fillWithinMs })
    setFilling(false)
    done(sent)
    if ('refusal' in sent) return
    sessionStorage.setItem(`filled ${sent.made.id}`, String(Date.now()))
    // Who went to another page meanwhile stays there: the menu of workspaces leads to the demo.
    if (isThere.current) goToWorkspace(sent.made.id)
  }
  return (
    <>
      <p>Or look around first:</p>
      <p>
        <button type="button" aria-disabled={isFilling} onClick={fill}>
          {isFilling ? 'Filling it…' : 'Fill a demo workspace'}
        </button>
      </p>
      <Refusal text={refusal} />
    </>
  )
}

/** @param name of what is copied: `the snippet` */
export function Copied({ text, name }: { text: string; name: string }) {
  return (
    <div class="copied">
      <pre>{text}</pre>
      <Copy text={text} of={name} />
    </div>
  )
}
