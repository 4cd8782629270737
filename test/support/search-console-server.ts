/** Google's sign-in of service accounts and its Search Console API, as far as a client that reads search terms sees of them, at their own hosts. */
import { createPublicKey, generateKeyPairSync, type JsonWebKey, verify } from 'node:crypto'
import { type Answered, type Asking, type HostedServer, startHostedServer } from './provider-server.ts'

/** A row as Google counts it, before it groups. */
export interface Impressions {
  readonly date: string
  /** Empty: too rare to be shown. */
  readonly query: string
  readonly page: string
  readonly clicks: number
  readonly impressions: number
  readonly position: number
}

export const ownSite = 'sc-domain:example.com'
export const otherSite = 'https://shop.example.net/'
export const foreignSite = 'https://foreign.example.org/'

export interface SearchConsoleServer extends HostedServer {
  readonly state: {
    rows: Impressions[]
    /** Later days aren't final yet. */
    finalThrough: string
    /** Milliseconds since 1970. */
    now: () => number
    isRevoked: boolean
    sites: Record<string, string>
  }
  /** The JSON file of the service account's key. */
  readonly keyFile: string
  readonly privateKey: string
}

const email = 'reader@project-7.iam.gserviceaccount.com'
const tokenUrl = 'https://oauth2.googleapis.com/token'

export function googleRefusal(code: number, reason: string, message: string): Answered {
  const domain = /quota|limit|accessNotConfigured/i.test(reason) ? 'usageLimits' : 'global'
  return { status: code, body: { error: { code, message, errors: [{ message, domain, reason }] } } }
}

export async function startSearchConsole(): Promise<SearchConsoleServer> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const jwk: JsonWebKey = publicKey.export({ format: 'jwk' })
  const state: SearchConsoleServer['state'] = {
    rows: [],
    finalThrough: '9999-12-31',
    now: Date.now,
    isRevoked: false,
    sites: { [ownSite]: 'siteRestrictedUser', [otherSite]: 'siteFullUser' },
  }
  const tokens = new Set<string>()

  function giveToken({ bytes, headers }: Asking): Answered {
    const sent = Object.fromEntries(new URLSearchParams(bytes.toString()))
    const refuse = (error_description: string) => ({ status: 400, body: { error: 'invalid_grant', error_description } })
    if (headers['host'] !== 'oauth2.googleapis.com') return { status: 404, body: '' }
    if (sent['grant_type'] !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return refuse('Bad Request')
    const [head = '', claims = '', signature = ''] = (sent['assertion'] ?? '').split('.')
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
    const { alg, kid } = read(head)
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const isSigned = verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))
    if (alg !== 'RS256' || kid !== 'key-1' || !isSigned || state.isRevoked) return refuse('Invalid JWT Signature.')
    const { iss, scope, aud, iat, exp } = read(claims)
    if (iss !== email) return refuse('Invalid grant: account not found')
    if (aud !== tokenUrl) return refuse('Invalid JWT: Failed audience check.')
    const isTimely = exp - iat <= 3600 && Math.abs(iat * 1000 - state.now()) < 300_000
    if (!isTimely) return refuse('Invalid JWT: Token must be a short-lived token (60 minutes).')
    if (scope !== 'https://www.googleapis.com/auth/webmasters.readonly') {
      return { status: 400, body: { error: 'invalid_scope', error_description: 'Invalid OAuth scope.' } }
    }
    const access_token = `ya29.${tokens.size + 1}`
    tokens.add(access_token)
    return { status: 200, body: { access_token, expires_in: 3599, token_type: 'Bearer' } }
  }

  const signedIn =
    (site: string, route: (asking: Asking) => Answered) =>
    (asking: Asking): Answered => {
      if (asking.headers['host'] !== 'searchconsole.googleapis.com') return { status: 404, body: '' }
      if (!tokens.has(asking.token ?? '')) return googleRefusal(401, 'authError', 'Invalid Credentials')
      if (state.sites[site] !== undefined) return route(asking)
      return googleRefusal(403, 'forbidden', `User does not have sufficient permission for site '${site}'.`)
    }

  let indexed: { rows: Impressions[]; length: number; byDate: Map<string, Impressions[]> } | undefined
  /** By an index: most requests are of one day. */
  function rowsBetween(from: string, to: string): Impressions[] {
    const { rows } = state
    if (indexed?.rows !== rows || indexed.length !== rows.length) {
      indexed = { rows, length: rows.length, byDate: new Map() }
      for (const row of rows) {
        const ofDate = indexed.byDate.get(row.date)
        if (ofDate === undefined) indexed.byDate.set(row.date, [row])
        else ofDate.push(row)
      }
    }
    return [...indexed.byDate].flatMap(([date, ofDate]) => (date >= from && date <= to ? ofDate : []))
  }

  function answerQuery({ json }: Asking): Answered {
    const { startDate, endDate, dimensions = [], type, dataState, rowLimit = 1000, startRow = 0, ...others } = json
    const isKnown = dimensions.every((name: string) => ['date', 'query', 'page'].includes(name))
    if (Object.keys(others).length > 0 || type !== 'web' || dataState !== 'final' || !isKnown || startDate > endDate) {
      return googleRefusal(400, 'invalidParameter', 'Invalid value.')
    }
    if (!(rowLimit >= 1 && rowLimit <= 25_000)) return googleRefusal(400, 'invalidParameter', 'Invalid rowLimit.')
    const groups = new Map<string, { keys: string[]; clicks: number; impressions: number; positions: number }>()
    for (const row of rowsBetween(startDate, endDate)) {
      const { date, query, clicks, impressions, position } = row
      if (date > state.finalThrough) continue
      // Rare queries are in no list with queries.
      if (dimensions.includes('query') && query === '') continue
      const keys = dimensions.map((name: 'date' | 'query' | 'page') => row[name])
      const group = groups.get(keys.join('\n')) ?? { keys, clicks: 0, impressions: 0, positions: 0 }
      group.clicks += clicks
      group.impressions += impressions
      group.positions += position * impressions
      groups.set(keys.join('\n'), group)
    }
    const all = [...groups.values()].sort((one, other) =>
      dimensions[0] === 'date' ? (one.keys[0]! < other.keys[0]! ? -1 : 1) : other.clicks - one.clicks,
    )
    const rows = all.slice(startRow, startRow + rowLimit).map(({ keys, clicks, impressions, positions }) => ({
      keys,
      clicks,
      impressions,
      ctr: clicks / impressions,
      position: positions / impressions,
    }))
    return { status: 200, body: { ...(rows.length > 0 && { rows }), responseAggregationType: 'byProperty' } }
  }

  const routes = [ownSite, otherSite, foreignSite].flatMap((site) => {
    const path = `/webmasters/v3/sites/${encodeURIComponent(site)}`
    const describe = () => ({ status: 200, body: { siteUrl: site, permissionLevel: state.sites[site] } })
    return [
      [`GET ${path}`, signedIn(site, describe)],
      [`POST ${path}/searchAnalytics/query`, signedIn(site, answerQuery)],
    ] as const
  })
  const server = await startHostedServer(
    { hosts: /^https:\/\/(oauth2|searchconsole)\.googleapis\.com$/ },
    { 'POST /token': giveToken, ...Object.fromEntries(routes) },
  )
  return Object.assign(server, {
    state,
    privateKey: pem,
    keyFile: JSON.stringify({
      type: 'service_account',
      project_id: 'project-7',
      private_key_id: 'key-1',
      private_key: pem,
      client_email: email,
      client_id: '77',
      token_uri: tokenUrl,
      universe_domain: 'googleapis.com',
    }),
  })
}
