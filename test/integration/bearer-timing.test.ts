/**
 * A bad bearer's time tells nothing about it. Each kind is asked in turn, in an order that is drawn. Two kinds are compared
 * by how often an answer to one took longer than an answer to the other. The share is one half where nothing tells them
 * apart. The limits are far from that, since the machine has other work.
 */
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { makeSecretKey, secretKeyPrefix, sha256Of } from '../../schemas/keys.ts'
import { setUpApi } from '../support/api.ts'
import { drawsOf, isLong } from '../support/short-form.ts'

const each = isLong ? 2_000 : 100
const draw = drawsOf('bearer-timing')
const warmUp = 20
const furthest = 0.2

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterAll(() => agent.destroy())

async function ask(key: string) {
  const startedAt = process.hrtime.bigint()
  const headers = { Authorization: `Bearer ${key}`, 'X-Request-Id': 'the-same' }
  const asked = request(`${api.url}/v1/workspace`, { agent, headers }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const body = (await response.toArray()).join('')
  const nanoseconds = Number(process.hrtime.bigint() - startedAt)
  const { date: _, ...same } = response.headers
  return { status: response.statusCode, headers: same, body, nanoseconds }
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  const left = [...items]
  return items.map(() => left.splice(Math.floor(draw() * left.length), 1)[0]!)
}

/** Asks for each kind so often, and holds all answers to be one. @param keyOf the key of a kind for the round */
async function timesOf<Kind extends string>(kinds: readonly Kind[], keyOf: (kind: Kind, round: number) => string) {
  const times = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]))
  const { nanoseconds: _, ...expected } = await ask('svc_sk_short')
  expect(expected).toMatchObject({ status: 401, body: '{"detail":"Not authenticated"}' })
  for (let round = -warmUp; round < each; round++) {
    for (const kind of shuffled(kinds)) {
      const { nanoseconds, ...shown } = await ask(keyOf(kind, round + warmUp))
      expect([kind, shown]).toEqual([kind, expected])
      if (round >= 0) times.get(kind)!.push(nanoseconds)
    }
  }
  return times
}

/** How often one of the first took longer than one of the second: 0.5 where they are alike (Mann and Whitney's U over all pairs). */
function oftenLonger(first: readonly number[], second: readonly number[]): number {
  const longer = first.reduce((sum, time) => sum + second.filter((other) => other < time).length, 0)
  return longer / (first.length * second.length)
}

function expectAlike(times: ReadonlyMap<string, readonly number[]>): void {
  const kinds = [...times.keys()]
  const pairs = kinds.flatMap((one, at) => kinds.slice(at + 1).map((other) => [one, other] as const))
  const compared = pairs.map(([one, other]) => ({ one, other, often: oftenLonger(times.get(one)!, times.get(other)!) }))
  const said = compared.map(({ one, other, often }) => `${often.toFixed(3)} ${one} / ${other}`)
  process.stdout.write(`${said.join('\n')}\n`)
  expect(compared.filter(({ often }) => Math.abs(often - 0.5) > furthest)).toEqual([])
}

test('keys that are no good, whatever is wrong with them and whether asked before, get one answer and are not told apart by its time', async () => {
  const good = mine.apiKey
  const count = each + warmUp
  const [unknown, revoked, expired] = [many(count), many(count), many(count)]
  await insertKeys(revoked, { revokedAt: new Date() })
  await insertKeys(expired, { expiresAt: new Date(Date.now() - 1_000) })
  const keys = {
    'of a wrong length': [good.slice(0, -1)],
    'with a wrong character': [`${good.slice(0, 20)}-${good.slice(21)}`],
    'of a wrong checksum': [good.slice(0, -1) + (good.endsWith('0') ? '1' : '0')],
    unknown: unknown.slice(0, 1),
    revoked: revoked.slice(0, 1),
    expired: expired.slice(0, 1),
    // Each for the first time.
    'new unknown': unknown,
    'new revoked': revoked,
    'new expired': expired,
  }
  const kinds = Object.keys(keys) as (keyof typeof keys)[]
  const times = await timesOf(kinds, (kind, round) => keys[kind][round % keys[kind].length]!)
  // A key that is looked up takes longer than one that is remembered or malformed: each is compared with its like.
  const [asked, fresh] = [kinds.slice(0, 6), kinds.slice(6)]
  for (const alike of [asked, fresh]) expectAlike(new Map(alike.map((kind) => [kind, times.get(kind)!])))
})

test('and the comparison can fail', () => {
  const some = Array.from({ length: 100 }, () => 100 + draw())
  expect(oftenLonger(some, some)).toBeCloseTo(0.5, 1)
  const others = some.map((time) => time + 2)
  expect(() => expectAlike(new Map(Object.entries({ some, others })))).toThrow()
})

const many = (count: number) => Array.from({ length: count }, makeSecretKey)

async function insertKeys(
  keys: readonly string[],
  { revokedAt = null, expiresAt = null }: { revokedAt?: Date | null; expiresAt?: Date | null },
): Promise<void> {
  await stores.pg.query(
    `INSERT INTO api_keys (workspace_id, owner_id, name, prefix, hash, scopes, expires_at, revoked_at)
     SELECT $1, $2, 'many', prefix, hash, '{}', $5, $6 FROM unnest($3::text[], $4::bytea[]) AS key (prefix, hash)`,
    [mine.workspaceId, mine.ownerId, keys.map(secretKeyPrefix), keys.map(sha256Of), expiresAt, revokedAt],
  )
}
