/** How whoever is signed in gets in and out: the password, the second factor, signing out, leaving. It needs no plan. */
import { useState } from 'preact/hooks'
import { roleWithArticle } from '../../../schemas/role-with-article.ts'
import { ConfirmWrite } from '../parts/dialog.tsx'
import { Panel } from '../parts/panel.tsx'
import { send, signOutSent } from '../requests/query.ts'
import { may, ownRole } from '../shell/may.ts'
import { addressOf } from '../shell/shared-page.ts'
import { Copied } from './install.tsx'

export function SigningIn() {
  return (
    <Panel title="Signing in">
      {may('workspace:own') ? (
        <>
          <p>
            A link works once, on the server itself. A password works from any computer; a new one ends all sessions.
          </p>
          <Copied text="npx svc owner link" name="the command for a link" />
          <Copied text="npx svc owner password" name="the command for a password" />
        </>
      ) : (
        <p>
          You are {roleWithArticle(ownRole())} of this workspace. If you forget the password, the sign-in page mails you
          a link, where it offers one. Otherwise every workspace must remove you and invite you again. If you own
          another workspace, whoever runs the service can give you a new password.
        </p>
      )}
      <p>
        <a href={addressOf('/dashboard/password')}>Change your password</a>
        {' · '}
        <a href={addressOf('/dashboard/second-factor')}>Second factor</a>
        {' · '}
        <a href={addressOf('/dashboard/browsers')}>Signed-in browsers</a>
      </p>
      <div class="controls">
        <form method="post" action="/dashboard/sign-out" onSubmit={signOutSent}>
          <button type="submit">Sign out of this browser</button>
        </form>
        {!may('workspace:own') && <Leave />}
      </div>
    </Panel>
  )
}

/** For whoever isn't the owner. */
function Leave() {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        Leave the workspace
      </button>
      {isAsking && (
        <ConfirmWrite
          title="Leave the workspace"
          verb="Leave"
          close={() => setAsking(false)}
          write={() => send('POST', '/members/leave')}
          done={() => location.assign('/dashboard')}
        >
          Your keys, shared links and connected apps stop working. Only another invitation leads back. If you have no
          other workspace, you are signed out.
        </ConfirmWrite>
      )}
    </>
  )
}
