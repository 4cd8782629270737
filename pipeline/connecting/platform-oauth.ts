/**
 * Where platforms let people sign in by OAuth 2.0 (RFC 6749), and what each has of its own. Addresses and scopes are those of the
 * platforms' documentation, 2026. X is signed in at by OAuth 1.0a (x-sign-in.ts).
 */
import type { SignInPlatform } from '../../schemas/reference/sign-in-platforms.ts'
import type { AppFields } from '../publishing/oauth2.ts'
import { googleTokenUrl } from '../publishing/platforms/google-api.ts'
import { linkedinTokenUrl } from '../publishing/platforms/linkedin-api.ts'
import { facebookApi } from '../publishing/platforms/meta-api.ts'
import { pinterestTokenUrl } from '../publishing/platforms/pinterest.ts'
import { threadsHost } from '../publishing/platforms/threads.ts'
import { tiktokTokenUrl } from '../publishing/platforms/tiktok-api.ts'

export interface PlatformOAuth extends AppFields {
  /** A path alone for Mastodon: each instance has its own address. */
  readonly authorizeUrl: string
  readonly tokenUrl: string
  /** Those that publishing needs. */
  readonly scopes: readonly string[]
  /** Between scopes in the address. */
  readonly separator: ' ' | ','
  /** It takes a proof of who began the sign-in (RFC 7636). */
  readonly takesProof?: true
  /** Further parameters of the address. */
  readonly more?: Readonly<Record<string, string>>
  /** How it names itself in its answer, where it does (RFC 9207). */
  readonly issuer?: string
}

/** A page on Facebook, and the professional account on Instagram that is connected to it. */
const ofPages = ['pages_show_list', 'pages_read_engagement']
const ofFacebook = {
  authorizeUrl: 'https://www.facebook.com/v25.0/dialog/oauth',
  tokenUrl: `${facebookApi}/oauth/access_token`,
  separator: ',',
} as const

export const platformOAuth: Readonly<Record<Exclude<SignInPlatform, 'x'>, PlatformOAuth>> = {
  mastodon: {
    authorizeUrl: '/oauth/authorize',
    tokenUrl: '/oauth/token',
    separator: ' ',
    takesProof: true,
    scopes: ['read:accounts', 'read:statuses', 'write:statuses', 'write:media'],
  },
  linkedin: {
    authorizeUrl: 'https://www.linkedin.com/oauth/v2/authorization',
    tokenUrl: linkedinTokenUrl,
    separator: ' ',
    scopes: ['openid', 'profile', 'w_member_social'],
  },
  facebook: { ...ofFacebook, scopes: [...ofPages, 'pages_manage_posts'] },
  instagram: { ...ofFacebook, scopes: [...ofPages, 'instagram_basic', 'instagram_content_publish'] },
  threads: {
    authorizeUrl: 'https://threads.net/oauth/authorize',
    tokenUrl: `${threadsHost}/oauth/access_token`,
    separator: ',',
    scopes: ['threads_basic', 'threads_content_publish'],
  },
  pinterest: {
    authorizeUrl: 'https://www.pinterest.com/oauth/',
    tokenUrl: pinterestTokenUrl,
    separator: ',',
    isBasic: true,
    scopes: ['user_accounts:read', 'boards:read', 'boards:write', 'pins:read', 'pins:write'],
  },
  youtube: {
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: googleTokenUrl,
    separator: ' ',
    takesProof: true,
    issuer: 'https://accounts.google.com',
    // Without both Google gives a refresh token at the first sign-in alone.
    more: { access_type: 'offline', prompt: 'consent' },
    scopes: ['upload', 'readonly'].map((name) => `https://www.googleapis.com/auth/youtube.${name}`),
  },
  tiktok: {
    authorizeUrl: 'https://www.tiktok.com/v2/auth/authorize/',
    tokenUrl: tiktokTokenUrl,
    separator: ',',
    idField: 'client_key',
    scopes: ['user.info.basic', 'video.publish'],
  },
}
