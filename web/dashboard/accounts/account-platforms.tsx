/** The form of each platform, besides the fields that it takes: its secret, and how somebody gets one (docs/posts.md). */
import type { ComponentChildren } from 'preact'
import type { SocialAccountResource } from '../../../schemas/resources/social-account.ts'

export type Platform = (typeof SocialAccountResource)['_output']['platform']

interface PlatformForm {
  readonly name: string
  /** The kind of secret, in words. */
  readonly secret: string
  /** It has lines, or may be JSON. */
  readonly isLong: boolean
  readonly help: ComponentChildren
}

const token = 'An access token, or JSON'

const meta = (
  <>
    In <Away to="https://developers.facebook.com/apps">Meta’s developer portal</Away> make an app, and a token of it for
    the page. First comments need a permission more. <Guide part="facebook-and-instagram" />
  </>
)

/** In the order in which they are offered. */
export const platformForms: Readonly<Record<Platform, PlatformForm>> = {
  bluesky: {
    name: 'Bluesky',
    secret: 'An app password',
    isLong: false,
    help: (
      <>
        Make an app password under <Away to="https://bsky.app/settings/app-passwords">Privacy and security</Away>. Not
        the password that you sign in with.
      </>
    ),
  },
  discord: {
    name: 'Discord',
    secret: 'The address of a webhook',
    isLong: false,
    help: (
      <>
        In the channel’s settings, under <em>Integrations → Webhooks</em>, make a webhook and copy its URL.{' '}
        <Guide part="discord" />
      </>
    ),
  },
  facebook: { name: 'Facebook', secret: token, isLong: true, help: meta },
  instagram: { name: 'Instagram', secret: token, isLong: true, help: meta },
  linkedin: {
    name: 'LinkedIn',
    secret: token,
    isLong: true,
    help: (
      <>
        Make an app and a token with LinkedIn’s{' '}
        <Away to="https://www.linkedin.com/developers/tools/oauth">token tools</Away>. It holds for 60 days. First
        comments need a scope more. <Guide part="linkedin" />
      </>
    ),
  },
  mastodon: {
    name: 'Mastodon',
    secret: 'An access token',
    isLong: false,
    help: (
      <>
        On your instance, under <em>Preferences → Development</em>, make an application with the scopes read:accounts,
        read:statuses, write:statuses and write:media. It shows the token. <Guide part="accounts" />
      </>
    ),
  },
  pinterest: {
    name: 'Pinterest',
    secret: token,
    isLong: true,
    help: (
      <>
        Make an app and a token in <Away to="https://developers.pinterest.com/apps/">Pinterest’s developer portal</Away>
        . <Guide part="pinterest" />
      </>
    ),
  },
  telegram: {
    name: 'Telegram',
    secret: 'The token of a bot',
    isLong: false,
    help: (
      <>
        Make a bot with <Away to="https://t.me/BotFather">@BotFather</Away>, and make it an administrator of the channel
        that may post. <Guide part="telegram" />
      </>
    ),
  },
  threads: {
    name: 'Threads',
    secret: 'A long-lived access token',
    isLong: false,
    help: (
      <>
        In <Away to="https://developers.facebook.com/apps">Meta’s developer portal</Away> make an app for Threads, and a
        token with its <em>User Token Generator</em>. <Guide part="threads" />
      </>
    ),
  },
  tiktok: {
    name: 'TikTok',
    secret: 'JSON with access_token, refresh_token, client_key and client_secret',
    isLong: true,
    help: (
      <>
        Make an app in <Away to="https://developers.tiktok.com/apps">TikTok’s developer portal</Away>, and sign in with
        it. <Guide part="tiktok" />
      </>
    ),
  },
  x: {
    name: 'X',
    secret: 'Four lines: API key, API key secret, access token, access token secret',
    isLong: true,
    help: (
      <>
        Make an app in <Away to="https://developer.x.com">X’s developer console</Away>. Make its tokens once it has the
        permission <em>Read and write</em>. <Guide part="accounts" />
      </>
    ),
  },
  youtube: {
    name: 'YouTube',
    secret: 'Three lines: client ID, client secret, refresh token',
    isLong: true,
    help: (
      <>
        Make an OAuth client in the{' '}
        <Away to="https://console.cloud.google.com/apis/credentials">Google Cloud console</Away>, and a refresh token in
        the <Away to="https://developers.google.com/oauthplayground">OAuth 2.0 Playground</Away>.{' '}
        <Guide part="youtube" />
      </>
    ),
  },
}

/** To a platform's page, in another tab: what is written here stays. */
function Away({ to, children }: { to: string; children: ComponentChildren }) {
  return (
    <a href={to} target="_blank" rel="noreferrer">
      {children}
    </a>
  )
}

function Guide({ part }: { part: string }) {
  return (
    <a href={`/guides/posts#${part}`} target="_blank" rel="noreferrer">
      Step by step
    </a>
  )
}
