/** Connects a social account, by signing in at its platform or with a token, or gives one new credentials. The platform is asked before anything is stored. */
import { useState } from 'preact/hooks'
import { type AccountField, fieldsOfPlatforms, privacies } from '../../../schemas/reference/account-fields.ts'
import type { CheckedSocialAccount, ConnectedSocialAccount } from '../../../schemas/resources/social-account.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { useIsOpen } from '../parts/use-is-open.ts'
import { send } from '../requests/query.ts'
import { type Platform, platformForms } from './account-platforms.tsx'
import { leaveForSignIn, withinPlatformMs } from './begin-sign-in.ts'

export type Account = (typeof CheckedSocialAccount)['_output']
export type Connected = (typeof ConnectedSocialAccount)['_output']

interface AccountFormProps {
  /** The account that gets new credentials; undefined: another one is connected. */
  readonly renewed: Account | undefined
  /** Those at which somebody may sign in. */
  readonly signIns: readonly Platform[]
  made(account: Connected): void
  close(): void
}

export function AccountForm({ renewed, signIns: known, made, close }: AccountFormProps) {
  // An app that is named meanwhile changes no form that somebody fills.
  const [signIns] = useState(known)
  const [platform, choose] = useState<Platform>(renewed?.platform ?? 'bluesky')
  const [hasToken, setToken] = useState(false)
  const isOpen = useIsOpen()
  const offersSignIn = renewed === undefined && signIns.includes(platform)
  const signsIn = offersSignIn && !hasToken
  const { name, help } = platformForms[platform]
  const submit = (data: FormData) => {
    const written = [...data].filter(([, value]) => String(value).trim() !== '')
    const body = { platform, ...Object.fromEntries(written), ...(renewed && { renews: renewed.id }) }
    return signsIn
      ? leaveForSignIn(body, isOpen)
      : send<Connected>('POST', '/social-accounts', body, { withinMs: withinPlatformMs })
  }
  return (
    <FormDialog
      title={renewed ? `Connect ${renewed.handle} again` : 'Connect an account'}
      verb={signsIn ? `Sign in with ${name}` : renewed ? 'Connect again' : 'Connect'}
      about={`${platform} ${signsIn}`}
      waiting={`Asking ${name} …`}
      close={close}
      made={made}
      submit={submit}
    >
      {renewed === undefined && (
        <label>
          Platform
          <select value={platform} onChange={({ currentTarget: { value } }) => choose(value as Platform)}>
            {Object.entries(platformForms).map(([value, { name }]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {!signsIn && <p>{help}</p>}
      <Fields key={`${platform} ${signsIn}`} platform={platform} renewed={renewed} signsIn={signsIn} />
      {offersSignIn && (
        <button type="button" class="link" onClick={() => setToken(!hasToken)}>
          {hasToken ? `Sign in with ${name}` : 'Connect with a token'}
        </button>
      )}
    </FormDialog>
  )
}

const labels: Readonly<Record<AccountField, string>> = {
  url: 'URL of the server',
  page: 'Number of the page',
  board: 'Number of the board',
  channel: 'Channel',
  privacy: 'Who sees the posts',
  handle: 'Handle',
}
const privacyNames = { everyone: 'Everyone', followers: 'Followers', friends: 'Friends', self: 'Only you' }

const inputModes = {
  url: 'url',
  page: 'numeric',
  board: 'numeric',
  channel: 'text',
  privacy: 'none',
  handle: 'text',
} as const

/** The server of X is none of a person's choice. */
const isAsked = (platform: Platform, field: AccountField) => platform !== 'x' || field !== 'url'

/** The ones that a sign-in doesn't tell. */
const askedBefore: readonly AccountField[] = ['url', 'privacy']

interface FieldsProps {
  readonly platform: Platform
  readonly renewed: Account | undefined
  readonly signsIn: boolean
}

function Fields({ platform, renewed, signsIn }: FieldsProps) {
  const { secret, isLong } = platformForms[platform]
  const { required, optional } = fieldsOfPlatforms[platform]
  const fields = [...(Object.keys(required) as AccountField[]), ...optional]
  if (signsIn) {
    return (
      <>
        <p>You sign in at {platformForms[platform].name}, and come back here.</p>
        {(Object.keys(required) as AccountField[])
          .filter((field) => askedBefore.includes(field))
          .map((field) => (
            <OneField key={field} field={field} renewed={renewed} meaning={required[field]} isRequired />
          ))}
      </>
    )
  }
  const about = <span class="label">{secret}. It is stored encrypted, and shown to nobody.</span>
  const ofSecret = { name: 'secret', required: true, maxLength: 4096, spellcheck: false } as const
  return (
    <>
      {fields
        .filter((field) => isAsked(platform, field))
        .map((field) => (
          <OneField
            key={field}
            field={field}
            renewed={renewed}
            meaning={required[field]}
            isRequired={field in required}
          />
        ))}
      {isLong ? (
        <label>
          Secret
          <textarea {...ofSecret} rows={4} autocomplete="off" />
          {about}
        </label>
      ) : (
        <label>
          Secret
          <input {...ofSecret} type="password" autocomplete="new-password" />
          {about}
        </label>
      )}
      <label>
        Name in lists (the platform’s, if it is left empty)
        <input name="display_name" maxLength={120} defaultValue={renewed?.display_name} />
      </label>
    </>
  )
}

interface OneFieldProps {
  readonly field: AccountField
  readonly renewed: Account | undefined
  readonly meaning: string | undefined
  readonly isRequired: boolean
}

function OneField({ field, renewed, meaning, isRequired }: OneFieldProps) {
  if (field === 'privacy') {
    return (
      <label>
        {labels.privacy}
        <select name="privacy" required>
          <option value="">Choose</option>
          {privacies.map((privacy) => (
            <option key={privacy} value={privacy}>
              {privacyNames[privacy]}
            </option>
          ))}
        </select>
      </label>
    )
  }
  return (
    <label>
      {labels[field]}
      {!isRequired && ' (may be left empty)'}
      <input
        name={field}
        inputMode={inputModes[field]}
        maxLength={field === 'handle' ? 120 : 2048}
        required={isRequired}
        autocomplete="off"
        defaultValue={knownOf(field, renewed)}
      />
      {meaning && <span class="label">{meaning.replace(/^./, (letter) => letter.toUpperCase())}</span>}
    </label>
  )
}

/** The value that the account was connected with, as far as the account tells it. */
function knownOf(field: AccountField, renewed: Account | undefined): string {
  if (renewed === undefined) return ''
  const { handle, platform, external_id: id, provider_metadata: metadata = {} } = renewed
  if (field === 'handle') return handle
  if (field === 'url') return String(metadata['url'] ?? '')
  if (field === 'board') return String(metadata['board_id'] ?? '')
  if (field === 'channel') return String(metadata['channel'] ?? '')
  if (platform === 'facebook') return id ?? ''
  return platform === 'linkedin' ? (/organization:(\d+)$/.exec(id ?? '')?.[1] ?? '') : ''
}
