/** People: who they are, in what order they are listed, and what they did. */
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mergeInbox } from '../../pipeline/people/merge.ts'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import { makeLog } from '../../runtime/log.ts'
import type { Person } from '../../schemas/resources/person.ts'
import { setUpApi } from '../support/api.ts'
import { foldStored } from '../support/figures.ts'
import { workOn } from '../support/fold.ts'
import { setUpIngest } from '../support/ingest.ts'
import { askPeople, type SentEvent, settlePeople, track } from '../support/people.ts'
import { connectProvider, sendEvent } from '../support/revenue.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true })
const ingest = setUpIngest(stores)
const begin = Math.floor(Date.now() / 1000) * 1000 - 10 * 3_600_000
/** Minutes from the begin, ten hours ago. */
const at = (minutes: number) => new Date(begin + minutes * 60_000).toISOString()

const view = (anonymous_id: string, minutes: number, more: SentEvent = {}): SentEvent => ({
  event_name: 'pageview',
  anonymous_id,
  session_id: `s-${anonymous_id}`,
  url: 'https://example.com/',
  occurred_at: at(minutes),
  ...more,
})
const identify = (anonymous_id: string, minutes: number, email: string, more: SentEvent = {}): SentEvent =>
  view(anonymous_id, minutes, { event_type: 'identify', event_name: 'identify', email, ...more })

async function send(...events: SentEvent[]) {
  const ids = await track(ingest, mine, events)
  await settlePeople(stores, ingest)
  return ids
}
const ask = () => askPeople(api, mine)
const nameOf = ({ email, anonymous_id }: Person) => email ?? anonymous_id

test('a contact with too many events keeps its figures, and holds up nobody else’s', async () => {
  const events = async () =>
    Object.fromEntries((await ask().people()).map((person) => [nameOf(person), person.event_count]))
  await send(identify('a', 0, 'ann@example.com'), identify('b', 0, 'ben@example.com'))
  await track(ingest, mine, [view('a', 1), view('a', 2), view('b', 1)])
  await ingest.shipped()
  await foldStored(stores)
  while (!(await refreshPeople(workOn(stores), Date.now(), { eventsMax: 2 })));
  expect(await events()).toEqual({ 'ann@example.com': 1, 'ben@example.com': 2 })
  // Else retention would delete it as one that was not seen.
  const ann = (await ask().people()).find(({ email }) => email === 'ann@example.com')
  expect(Date.parse(ann!.last_seen_at)).toBe(Date.parse(at(2)))
  await send(view('a', 3), view('b', 2))
  expect(await events()).toEqual({ 'ann@example.com': 4, 'ben@example.com': 3 })
})

test('contacts and the past of browsers that a run does not get to come with the next ones', async () => {
  const counts = async () => {
    const people = (await ask().people()).filter(({ email }) => email?.endsWith('@late.example'))
    return Object.fromEntries(people.map((person) => [nameOf(person), person.event_count]))
  }
  const run = async (): Promise<number> => {
    await ingest.shipped()
    await mergeInbox({ pg: stores.pg, hashes: stores.hashes, log: makeLog('test', 'silent'), now: Date.now() })
    await foldStored(stores)
    let runs = 1
    const limits = { eventsMax: 4, timeMs: 0, pastMax: 1 }
    while (!(await refreshPeople(workOn(stores), Date.now(), limits))) runs++
    return runs
  }
  await send(view('p', 1), view('q', 1), view('q', 2))
  await track(ingest, mine, [identify('p', 3, 'pat@late.example'), identify('q', 3, 'quin@late.example')])
  expect(await run()).toBe(2)
  expect(await counts()).toEqual({ 'pat@late.example': 2, 'quin@late.example': 3 })
  await track(ingest, mine, [view('p', 4), view('q', 4)])
  expect(await run()).toBe(2)
  expect(await counts()).toEqual({ 'pat@late.example': 3, 'quin@late.example': 4 })
})

test('contacts that shared a browser are computed once each, though a run gets to one of them alone', async () => {
  await track(ingest, mine, [
    identify('pair', 1, 'sam@pair.example'),
    identify('pair', 2, 'sue@pair.example'),
    ...[3, 4, 5].map((minutes) => view('pair', minutes)),
  ])
  await ingest.shipped()
  await mergeInbox({ pg: stores.pg, hashes: stores.hashes, log: makeLog('test', 'silent'), now: Date.now() })
  await foldStored(stores)
  let runs = 1
  while (runs < 9 && !(await refreshPeople(workOn(stores), Date.now(), { eventsMax: 4, timeMs: 0 }))) runs++
  expect(runs).toBe(2)
})

test('an identified browser is one known person, with all that it did before, and no row of its own', async () => {
  await send(
    view('a', 0, { source: 'news', medium: 'email', campaign: 'spring', content: 'top' }),
    view('a', 1),
    view('b', 2),
    identify('a', 3, ' Ann@Example.com', { full_name: 'Ann', properties: { company: 'Acme', user_id: 'u1' } }),
    view('a', 4, { source: 'google', medium: 'organic', session_id: 's2' }),
    view('a', 5, { event_type: 'conversion', event_name: 'purchase', session_id: 's2' }),
  )
  // The newest trait that is not empty counts, in whichever order they come.
  await send(
    identify('a', 4.5, 'ann@example.com', { full_name: ' ', properties: { company: ' ' } }),
    identify('a', 2.5, 'ann@example.com', { full_name: 'Old', properties: { company: 'Old' } }),
    identify('a', 4.6, 'ann@example.com', { properties: { full_name: ['no', 'text'] } }),
  )
  const people = await ask().people()
  expect(people).toEqual([
    {
      id: expect.any(Number),
      object_id: `contact_${people[0]!.id}`,
      kind: 'known',
      contact_id: people[0]!.id,
      anonymous_id: null,
      email: 'ann@example.com',
      full_name: 'Ann',
      company: 'Acme',
      source: 'google',
      medium: 'organic',
      campaign: '',
      content: '',
      first_source: 'news',
      first_medium: 'email',
      first_campaign: 'spring',
      session_count: 2,
      event_count: 8,
      conversion_count: 1,
      total_revenue_cents: 0,
      first_seen_at: at(0),
      last_seen_at: at(5),
    },
    {
      id: null,
      object_id: null,
      kind: 'anonymous',
      contact_id: null,
      anonymous_id: 'b',
      email: null,
      full_name: '',
      company: '',
      source: 'direct',
      medium: 'none',
      campaign: '',
      content: '',
      first_source: 'direct',
      first_medium: 'none',
      first_campaign: '',
      session_count: 1,
      event_count: 1,
      conversion_count: 0,
      total_revenue_cents: 0,
      first_seen_at: at(2),
      last_seen_at: at(2),
    },
  ])
  // As the browser script sends it.
  await send(
    identify('a', 6, 'ann@example.com', { properties: { full_name: 'Ä'.repeat(300) } }),
    identify('a', 7, 'ann@example.com', { properties: { full_name: 'undefined' } }),
  )
  expect((await ask().people())[0]).toMatchObject({ full_name: 'Ä'.repeat(200) })
})

test('what no index and no table of Postgres takes holds up nobody else', async () => {
  const longId = randomBytes(6_000).toString('hex')
  await send(identify('long', 0, 'long@example.com', { properties: { user_id: longId } }))
  await stores.pg.query("ALTER TABLE inbox ADD CONSTRAINT sound CHECK (full_name != 'poison')")
  const [, refused] = await send(
    identify('a', 1, 'ann@example.com'),
    identify('b', 2, 'ben@example.com', { full_name: 'poison' }),
    identify('c', 3, 'cat@example.com'),
  )
  await stores.pg.query('ALTER TABLE inbox DROP CONSTRAINT sound')
  expect((await ask().people()).map(nameOf)).toEqual(['cat@example.com', 'b', 'ann@example.com', 'long@example.com'])
  const aside = await readdir(join(stores.dataDir, 'ingest', 'set-aside'))
  expect(aside.sort()).toEqual([`events-side-${refused}.bin`, `events-side-${refused}.json`])
})

test('a journey is found by an e-mail in any case, a contact or any browser, and has its touches and newest events', async () => {
  const ids = await send(
    view('phone', 0, { source: 'news', medium: 'email' }),
    identify('phone', 1, 'ann@example.com'),
    identify('laptop', 3, 'ann@example.com'),
    view('other', 5),
  )
  const [other, ann] = await ask().people()
  const journey = await ask().journey({ email: 'ANN@example.com' })
  const touch = { source: 'news', medium: 'email', campaign: '', content: '', occurred_at: at(0) }
  const { event_count, session_count, conversion_count, total_revenue_cents } = ann!
  expect(journey).toMatchObject({
    person: ann,
    anonymous_ids: expect.arrayContaining(['phone', 'laptop']),
    revenue: [],
    event_count,
    session_count,
    conversion_count,
    total_revenue_cents,
    first_touch: touch,
    last_touch: touch,
  })
  const shown = [2, 1, 0].map((nth) => ({ id: ids[nth], contact_id: ann!.id }))
  expect(journey.events).toMatchObject(shown)
  expect(await ask().journey({ contact_id: String(ann!.id) })).toEqual(journey)
  expect(await ask().journey({ anonymous_id: 'laptop' })).toEqual(journey)
  expect((await ask().journey({ email: 'ann@example.com', limit: '2' })).events).toEqual(journey.events.slice(0, 2))
  const behind = async (person: Record<string, string>, id: number) =>
    (await ask().journey({ ...person, before_id: String(id) })).events
  expect(await behind({ email: 'ann@example.com' }, ids[2]!)).toEqual(journey.events.slice(1))
  expect(await behind({ email: 'ann@example.com' }, ids[2]! + 1_000_000)).toEqual([])
  expect(await behind({ anonymous_id: 'other' }, ids[3]!)).toEqual([])
  const anonymous = await ask().journey({ anonymous_id: 'other' })
  expect(anonymous).toMatchObject({ person: other, anonymous_ids: ['other'], event_count: 1 })
  expect(anonymous.events).toMatchObject([{ id: ids[3], contact_id: null }])
})

test('a contact binds the 200 browsers identified first, ties by id: an earlier one that comes late takes the last one’s place', async () => {
  const numbered = (nth: number) => `browser-${String(nth).padStart(3, '0')}`
  const identified = (nth: number) => identify(numbered(nth), 1 + Math.min(nth, 199) / 10, 'ann@example.com')
  const all = Array.from({ length: 201 }, (_, nth) => identified(nth))
  await send(...all.slice(1))
  const bound = async (email = 'ann@example.com') => (await ask().journey({ email })).anonymous_ids.sort()
  expect(await bound()).toEqual(Array.from({ length: 200 }, (_, nth) => numbered(1 + nth)))
  await send(all[0]!)
  expect(await bound()).toEqual(Array.from({ length: 200 }, (_, nth) => numbered(nth)))
  expect((await ask().people()).map(nameOf).sort()).toEqual(['ann@example.com', numbered(200)])
  await send(identify(numbered(200), 22, 'ben@example.com'))
  expect(await bound('ben@example.com')).toEqual([numbered(200)])
})

describe('pages', () => {
  test('go back through contacts and visitors alike, each once', async () => {
    const events = Array.from({ length: 40 }, (_, nth) =>
      nth % 3 === 0 ? identify(`v${nth}`, nth, `c${nth}@example.com`) : view(`v${nth}`, nth >> 1),
    )
    // More sessions than a page of visitors is looked for among.
    const often = Array.from({ length: 40 }, (_, nth) => view('v1', 25 + nth, { session_id: `again-${nth}` }))
    await send(...events, ...often, { event_name: 'pageview', url: 'https://example.com/', occurred_at: at(10) })
    const all = await ask().people()
    expect(all).toHaveLength(41)
    const times = all.map((one) => one.last_seen_at)
    expect(times).toEqual([...times].sort().reverse())
    const paged: Person[] = []
    for (let page = await ask().people({ limit: '7' }); page.length > 0; ) {
      paged.push(...page)
      const { id, anonymous_id } = page.at(-1)!
      const before = id === null ? { before_anonymous_id: anonymous_id! } : { before_id: String(id) }
      page = await ask().people({ limit: '7', ...before })
    }
    expect(paged).toEqual(all)
    const cookieless = all.find(({ anonymous_id }) => anonymous_id?.startsWith('visitor_'))!
    expect((await ask().journey({ anonymous_id: cookieless.anonymous_id! })).person).toEqual(cookieless)
  })

  test('count all sessions of a day, though the page reaches back to some of them alone', async () => {
    const short = { session_id: 'short' }
    await send(
      view('v', 500),
      view('v', 501, short),
      view('v', 502, { ...short, event_type: 'conversion' }),
      ...['w', 'x', 'y', 'z'].map((name) => view(name, 550)),
      view('v', 590),
      view('u', 595, { session_id: 'first' }),
      view('u', 596, { session_id: 'second', event_type: 'conversion', event_name: 'purchase' }),
    )
    const [u, v] = [
      { event_count: 2, session_count: 2 },
      { event_count: 4, session_count: 2 },
    ]
    expect(await ask().people({ limit: '2' })).toMatchObject([
      { anonymous_id: 'u', ...u, conversion_count: 1, first_seen_at: at(595), last_seen_at: at(596) },
      { anonymous_id: 'v', ...v, conversion_count: 1, first_seen_at: at(500), last_seen_at: at(590) },
    ])
    expect(await ask().people({ limit: '1', before_anonymous_id: 'u' })).toMatchObject([{ anonymous_id: 'v', ...v }])
    await expect(ask().people({ before_id: '1', before_anonymous_id: 'u' })).rejects.toThrow('422 ')
  })

  test('search e-mail, name, company, source and campaign, whatever the case and signs', async () => {
    await send(
      identify('a', 1, 'ann_1@example.com', { full_name: 'Ännchen Ä', properties: { company: '100% Acme\\Co' } }),
      identify('b', 2, 'annx1@example.com', { source: 'newsletter', campaign: 'spring-sale' }),
      view('c', 3, { source: 'newsletter', medium: 'email', campaign: 'autumn' }),
      view('d', 4),
    )
    const found: Record<string, string[]> = {
      ANN_1: ['ann_1@example.com'],
      ännchen: ['ann_1@example.com'],
      '100% acme\\c': ['ann_1@example.com'],
      Newsletter: ['c', 'annx1@example.com'],
      spring: ['annx1@example.com'],
      autumn: ['c'],
      nobody: [],
      // A contact without a touch, and a visitor without one.
      direct: ['d', 'ann_1@example.com'],
    }
    for (const [q, names] of Object.entries(found))
      expect([q, (await ask().people({ q })).map(nameOf)]).toEqual([q, names])
    expect(await ask().people({ q: ' ' })).toHaveLength(4)
  })

  test('search short texts among the newest 10,000 contacts alone', async () => {
    await send(identify('a', 1, 'zq1@example.com'))
    const found = async (q: string) => (await ask().people({ q })).map(nameOf)
    expect(await found('zq')).toEqual(['zq1@example.com'])
    await stores.pg.query(
      `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
       SELECT workspace_id, n || '@example.com', n, last_seen_at, last_seen_at, last_seen_at, last_seen_at + 1
       FROM contacts, generate_series(1, 10000) AS n WHERE email = 'zq1@example.com'`,
    )
    expect([await found('zq'), await found('zq1')]).toEqual([[], ['zq1@example.com']])
  })

  test('search contacts as a plain comparison would, whether rare parts, the whole text or the order finds them', async () => {
    await stores.pg.query(
      `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at, full_name, company)
       SELECT $1::int, n || '@example.com', n, n, n, n, $2::bigint - n * 60000, (ARRAY['Ada', 'Margaret', 'Ünsal'])[n % 3 + 1] || ' Number' || n % 101,
         'Company ' || n % 97 || 'x' FROM generate_series(1, 4000) AS n`,
      [mine.workspaceId, begin],
    )
    const plain = (q: string) =>
      stores.pg.query<{ email: string }>(
        'SELECT email FROM contacts WHERE workspace_id = $1 AND strpos(searched, lower($2)) > 0 ORDER BY last_seen_at DESC, id DESC LIMIT 100',
        [mine.workspaceId, q],
      )
    const texts = [
      'company 20x',
      'COMPANY 7X',
      'mpany 9',
      'Margaret Number77',
      'ünsal',
      'number100',
      '3999@',
      '20% off',
      'nobody',
    ]
    for (const q of texts) {
      const emails = (await ask().people({ q })).map(({ email }) => email)
      expect([q, emails]).toEqual([q, (await plain(q)).map(({ email }) => email)])
    }
  })

  test('a search finds who matched days ago and came back since, behind and before others', async () => {
    await send(
      view('early', -3_600, { source: 'newsletter', medium: 'email', session_id: 'old' }),
      view('early', 590),
      view('late', 580, { source: 'newsletter', medium: 'email' }),
    )
    expect((await ask().people({ q: 'newsletter' })).map(nameOf)).toEqual(['early', 'late'])
    expect((await ask().people({ q: 'newsletter', limit: '1' })).map(nameOf)).toEqual(['early'])
    // Whose sessions turn out to have begun otherwise take nobody's place.
    const others = ['x', 'y']
    await send(...others.map((name) => view(name, 595, { source: 'newsletter', medium: 'email' })))
    await send(...others.map((name) => view(name, 594, { source: 'partner', medium: 'web' })))
    expect((await ask().people({ q: 'newsletter', limit: '1' })).map(nameOf)).toEqual(['early'])
  })
})

test('of a person only what may be read counts, though more is kept, and touches stay whole', async () => {
  const news = { source: 'news', medium: 'email' }
  await send(
    view('a', -3_000, news),
    view('b', -3_000, news),
    view('b', 5),
    identify('a', -2_999, 'ann@example.com'),
    view('a', 0, { session_id: 's2' }),
    view('a', 1, { session_id: 's2', event_type: 'conversion', event_name: 'purchase' }),
  )
  const whole = { first_seen_at: at(-3_000), first_source: 'news', source: 'news' }
  expect(await ask().people()).toMatchObject([
    { event_count: 2, ...whole },
    { event_count: 4, session_count: 2, ...whole },
  ])
  await stores.pg.query('UPDATE workspaces SET retention_days = 2 WHERE id = $1', [mine.workspaceId])
  // A key's workspace is remembered for a moment.
  await expect
    .poll(() => ask().people())
    .toMatchObject([
      { event_count: 1, session_count: 1, first_seen_at: at(5), first_source: 'news', source: 'news' },
      {
        event_count: 2,
        session_count: 1,
        conversion_count: 1,
        first_seen_at: at(0),
        first_source: 'news',
        source: 'news',
      },
    ])
  expect(await ask().journey({ anonymous_id: 'b' })).toMatchObject({
    first_touch: { ...news, occurred_at: at(-3_000) },
  })
  const { person, events, event_count } = await ask().journey({ email: 'ann@example.com' })
  expect([person.event_count, person.first_seen_at, events.length, event_count]).toEqual([2, at(0), 2, 2])
})

test('recent events say whose they are, also by an identify that came later', async () => {
  await send(view('a', 590), view('b', 591))
  const recent = async () => {
    const response = await api.ask('/v1/analytics/overview?days=2', { key: mine.apiKey })
    const { recent_events } = (await response.json()) as { recent_events: Record<string, unknown>[] }
    return recent_events.map(({ anonymous_id, contact_id }) => [anonymous_id, contact_id])
  }
  expect((await recent()).map(([, contact]) => contact)).toEqual([null, null])
  await send(identify('a', 592, 'ann@example.com'))
  const [ann] = await ask().people()
  expect(await recent()).toEqual([
    ['a', ann!.id],
    ['b', null],
    ['a', ann!.id],
  ])
})

test.each([
  ['contact_id=0', 404],
  ['contact_id=-1', 404],
  ['contact_id=99999999999999999999', 404],
  ['contact_id=contact_99999999999999999999', 404],
  ['contact_id=post_1', 422],
  ['contact_id=1.5', 422],
  ['', 422],
  ['email=a@b.c&contact_id=1', 422],
  ['email=a@b.c&contact_id=1&anonymous_id=x', 422],
] as [string, number][])('a journey that is named by %j is %d', async (query, status) => {
  expect((await api.ask(`/v1/people/journey?${query}`, { key: mine.apiKey })).status).toBe(status)
})

test('payments are those of the payer: by e-mail, by user id, by a browser that was theirs then; less refunds', async () => {
  await send(
    identify('shared', 0, 'ann@example.com', { properties: { user_id: 'u-ann' } }),
    // Two at one moment: the later id counts.
    identify('shared', 60, 'cy@example.com'),
    identify('shared', 60, 'ben@example.com'),
    view('lone', 70),
    // The site gave her another user id since.
    identify('dees', 40, 'dee@example.com', { properties: { user_id: 'u-dee' } }),
    identify('dees', 41, 'dee@example.com', { properties: { user_id: 'u-dee-2' } }),
  )
  const connected = await connectProvider(stores, mine.workspaceId, 'custom')
  const pay = async (id: string, minutes: number, value_cents: number, more: object) => {
    const event = { id, type: 'payment', value_cents, currency: 'USD', occurred_at: at(minutes), ...more }
    expect((await sendEvent(api, 'custom', connected, event)).status).toBe(200)
  }
  await pay('mail', 10, 1_000, { email: 'ann@example.com' })
  await pay('back', 11, 300, { type: 'refund', payment_id: 'mail' })
  await pay('user', 20, 50, { workspace_user_id: 'u-ann' })
  await pay('former user', 25, 19, { workspace_user_id: 'u-dee' })
  await pay('early', 30, 7, { anonymous_id: 'shared' })
  await pay('late', 90, 11, { anonymous_id: 'shared' })
  await pay('yen', 95, 9_000, { email: 'ben@example.com', currency: 'JPY' })
  await pay('lone', 100, 13, { anonymous_id: 'lone' })
  await pay('nobody', 100, 99, { email: 'nobody@example.com' })
  // Told of two people: the payment itself says whose it is, its customer and its browser don't.
  await pay('two', 5, 500, { email: 'ben@example.com' })
  await stores.pg.query(`UPDATE revenue_payments SET refs = refs || 'customer:two'::text WHERE payment = 'two'`)
  await stores.pg.query(
    `INSERT INTO revenue_payers (workspace_id, provider, reference, field, value, told_at)
     VALUES ($1, 'custom', 'customer:two', 'email', 'ann@example.com', now()), ($1, 'custom', 'customer:two', 'anonymous_id', 'lone', now())`,
    [mine.workspaceId],
  )
  const people = await ask().people()
  expect(Object.fromEntries(people.map((person) => [nameOf(person), person.total_revenue_cents]))).toEqual({
    'ann@example.com': 757,
    'ben@example.com': 511,
    'cy@example.com': 0,
    'dee@example.com': 19,
    lone: 13,
  })
  const paid = async (person: Record<string, string>) =>
    (await ask().journey(person)).revenue.map(({ value_cents, currency }) => `${value_cents} ${currency}`)
  expect(await paid({ email: 'ann@example.com' })).toEqual(['7 USD', '50 USD', '700 USD'])
  expect(await paid({ email: 'ben@example.com' })).toEqual(['9000 JPY', '11 USD', '500 USD'])
  expect(await paid({ anonymous_id: 'lone' })).toEqual(['13 USD'])
  // A journey lists the newest payments; its sum is of all.
  await stores.pg.query(
    `WITH made AS (
       INSERT INTO revenue_payments (workspace_id, provider, payment, refs, occurred_at, import_day)
       SELECT $1, 'custom', 'more ' || n, ARRAY['payment:lone'], $2, '2026-01-01' FROM generate_series(1, 250) AS n RETURNING id)
     INSERT INTO revenue_entries (workspace_id, payment_id, entry, value_cents, currency, occurred_at)
     SELECT $1, id, 'payment', 2, 'USD', $2 FROM made`,
    [mine.workspaceId, at(101)],
  )
  const lone = (await ask().people()).find((person) => nameOf(person) === 'lone')
  expect([lone!.total_revenue_cents, (await paid({ anonymous_id: 'lone' })).length]).toEqual([513, 200])
})
