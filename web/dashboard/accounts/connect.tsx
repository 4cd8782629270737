/** Where a platform sends the browser after a sign-in: the account is connected, or it is chosen among several. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { AccountSignIn } from '../../../schemas/resources/social-account.ts'
import { PageLink } from '../parts/page-link.tsx'
import { Panel } from '../parts/panel.tsx'
import { type Sent, send } from '../requests/query.ts'
import { replaceAddress } from '../shell/history-entries.ts'
import type { PageProps } from '../shell/lazy-page.tsx'
import { addressOf } from '../shell/shared-page.ts'
import { platformForms } from './account-platforms.tsx'
import { withinPlatformMs } from './begin-sign-in.ts'

type SignIn = (typeof AccountSignIn)['_output']

const names = ['code', 'iss', 'error', 'error_description', 'oauth_verifier', 'denied']

export function ConnectPage({ search, navigate }: Pick<PageProps, 'search' | 'navigate'>) {
  const [sent, setSent] = useState<Sent<SignIn>>()
  const [isAsking, setAsking] = useState(true)
  const ask = async (path: string, body: object) => {
    setAsking(true)
    const answer = await send<SignIn>('POST', `/social-accounts/sign-in/${path}`, body, { withinMs: withinPlatformMs })
    setSent((before) =>
      before !== undefined && 'made' in before && 'refusal' in answer ? { ...before, ...answer } : answer,
    )
    setAsking(false)
  }
  useEffect(() => {
    const query = new URLSearchParams(search)
    // The code works once: neither a reload nor the history needs it.
    replaceAddress(addressOf(location.pathname))
    const state = query.get('state') ?? query.get('oauth_token') ?? query.get('denied')
    if (state === null || state === '') {
      setSent({ refusal: 'No platform sent you here. Begin in the settings, under Accounts' })
      setAsking(false)
      return
    }
    const returned = names.flatMap((name) => (query.has(name) ? [[name, query.get(name)]] : []))
    void ask('return', { state, ...Object.fromEntries(returned) })
  }, [])
  const made = sent !== undefined && 'made' in sent ? sent.made : undefined
  const refusal = sent !== undefined && 'refusal' in sent ? sent.refusal : ''
  return (
    <main>
      <Panel title="Connect an account" refusal={isAsking ? '' : refusal}>
        <p role="status">
          {isAsking ? 'Asking the platform …' : ''}
          {!isAsking && made?.handle && (
            <>
              <bdi>{made.handle}</bdi> on {platformForms[made.platform].name} is connected{made.is_renewed && ' again'}.
            </>
          )}
        </p>
        {made !== undefined && made.sign_in_id !== null && (
          <Choices
            made={made}
            isAsking={isAsking}
            choose={(choice) => ask('choose', { sign_in_id: made.sign_in_id, choice })}
          />
        )}
        <PageLink path="/dashboard/settings#publishing" navigate={navigate}>
          Go to the settings
        </PageLink>
      </Panel>
    </main>
  )
}

interface ChoicesProps {
  readonly made: SignIn
  readonly isAsking: boolean
  choose(key: string): Promise<void>
}

function Choices({ made: { platform, choices }, isAsking, choose }: ChoicesProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void choose(String(new FormData(event.currentTarget as HTMLFormElement).get('choice')))
  }
  const place = useRef<HTMLFormElement>(null)
  // They come after a wait, and nothing else on the page tells of them.
  useLayoutEffect(() => place.current?.querySelector('input')?.focus(), [])
  return (
    <form class="editor" ref={place} onSubmit={submit}>
      <fieldset>
        <legend>What do posts on {platformForms[platform].name} go to?</legend>
        {choices.map(({ key, name }) => (
          <label key={key} class="choice">
            <input type="radio" name="choice" value={key} required /> <bdi>{name}</bdi>
          </label>
        ))}
      </fieldset>
      <button type="submit" aria-disabled={isAsking}>
        Connect
      </button>
    </form>
  )
}
