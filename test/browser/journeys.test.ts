/** Visitors over pages, tabs, sites and browsers: sessions, touches, and what merging people needs of the events. */
import { expect, test } from 'vitest'
import { productRoot, setUpSurface } from '../support/tracking-surface.ts'
import { root, shop, startVisit } from '../support/visits.ts'

const surface = setUpSurface()

const chosen = { plan: 'sloop', seats: 3, nested: { list: [1, 'two', null, true] }, name: 'Zoë 🌊' }

test('two pages, a closed tab and a second browser under one e-mail: the rows have what makes them one person', async (context) => {
  const first = await startVisit(surface, context)
  first.site(shop, { '/': {}, '/sign-up': {} })
  await first.page.goto(`${root}/?utm_source=letter&utm_medium=email&utm_campaign=spring`)
  await first.expectSent('pageview')
  await first.page.goto(`${root}/sign-up`)
  await first.expectSent('pageview', 2)
  await first.page.evaluate(`{
    Svc.identify(' Ada@Example.com ', { full_name: 'Ada Lovelace', company: 'Engines', user_id: 'u-7' })
    const properties = ${JSON.stringify(chosen)}
    Svc.track('plan_chosen', properties)
    properties.plan = 'changed later'
    Svc.conversion('signup', { plan: 'sloop' })
  }`)
  // The last events go out with the tab.
  await first.page.close({ runBeforeUnload: true })
  await first.expectSent('signup')

  const second = await startVisit(surface, context, { workspace: first.workspace })
  second.site(shop, { '/': {} })
  second.site('news.example', { '/': { snippet: '', main: `<a href="${root}/">shop</a>` } })
  await second.page.goto('http://news.example/')
  await second.page.click('a')
  await second.expectSent('pageview')
  await second.page.evaluate(`Svc.identify('ada@example.com')`)
  await second.expectSent('identify')

  const rows = await second.stored()
  const ids = [...new Set(rows.map(({ anonymous_id }) => anonymous_id))]
  expect(ids).toHaveLength(2)
  expect(new Set(rows.map(({ session }) => session)).size).toBe(2)
  const hashes = rows.filter(({ event_name }) => event_name === 'identify').map(({ email_hash }) => email_hash)
  expect(hashes).toHaveLength(2)
  expect(new Set(hashes).size).toBe(1)
  expect(hashes[0]).not.toBe('0')
  const rowsOf = (id: string) => rows.filter(({ anonymous_id }) => anonymous_id === id)
  expect(rowsOf(ids[0]!).map(({ event_name, event_type }) => [event_name, event_type])).toEqual(
    expect.arrayContaining([
      ['pageview', 'track'],
      ['pageview', 'track'],
      ['identify', 'identify'],
      ['plan_chosen', 'track'],
      ['signup', 'conversion'],
    ]),
  )
  expect(rows.find(({ event_name }) => event_name === 'plan_chosen')!.properties).toEqual(chosen)
  expect(rowsOf(ids[0]!)[0]).toMatchObject({ source: 'letter', medium: 'email', campaign: 'spring', path: '/' })
  expect(rowsOf(ids[1]!)[0]).toMatchObject({ source: 'news.example', medium: 'referral', path: '/' })

  const inbox = await surface.pg.query(
    `SELECT event_type, event_name, email, anonymous_id, full_name, properties FROM inbox
     WHERE workspace_id = $1 ORDER BY event_id`,
    [first.workspace.workspaceId],
  )
  expect(inbox).toEqual([
    {
      event_type: 'identify',
      event_name: 'identify',
      email: 'ada@example.com',
      anonymous_id: ids[0],
      full_name: '',
      properties: expect.objectContaining({ full_name: 'Ada Lovelace', company: 'Engines', user_id: 'u-7' }),
    },
    expect.objectContaining({ event_name: 'signup', anonymous_id: ids[0], properties: { plan: 'sloop' } }),
    expect.objectContaining({ event_type: 'identify', email: 'ada@example.com', anonymous_id: ids[1] }),
  ])
  const { metrics, top_sources } = await second.overview()
  expect(metrics).toMatchObject({ visitors: 2, sessions: 2, pageviews: 3, conversions: 1, new_contacts: 1 })
  expect(top_sources).toContainEqual(expect.objectContaining({ source: 'letter', medium: 'email', conversions: 1 }))
})

test('the first touch stays, the last one follows campaigns and other sites, and identifying changes neither', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': {}, '/prices': {} })
  visit.site('news.example', { '/': { snippet: '', main: `<a href="${root}/prices">prices</a>` } })
  const journey = () => visit.page.evaluate<{ first_touch: object; last_touch: object }>(`Svc.journey()`)
  await visit.page.goto(`${root}/?source=letter&medium=email&campaign=spring&content=top&svc_link_id=7&svc_post_id=9`)
  const [event] = await visit.expectSent('pageview', 1)
  const ids = { anonymous_id: event!.anonymous_id, session_id: event!.session_id }
  expect(await visit.page.evaluate('[Svc.anonymousId(), Svc.sessionId()]')).toEqual(Object.values(ids))
  expect(await journey()).toMatchObject(ids)
  const campaign = { source: 'letter', medium: 'email', campaign: 'spring', content: 'top' }
  expect((await journey()).first_touch).toMatchObject({ ...campaign, svc_link_id: '7', svc_post_id: '9' })
  expect((await journey()).last_touch).toMatchObject(campaign)
  await visit.page.goto(`${root}/prices`)
  await visit.expectSent('pageview', 2)
  expect((await journey()).last_touch).toMatchObject(campaign)
  await visit.page.goto('http://news.example/')
  await visit.page.click('a')
  await visit.expectSent('pageview', 3)
  expect(await journey()).toMatchObject({ first_touch: campaign, last_touch: { referrer: 'http://news.example/' } })
  await visit.page.goto(`${root}/?utm_source=ads&utm_medium=cpc`)
  await visit.expectSent('pageview', 4)
  await visit.page.evaluate(`Svc.identify('ada@example.com')`)
  await visit.expectSent('identify')
  expect(await journey()).toMatchObject({ first_touch: campaign, last_touch: { source: 'ads', medium: 'cpc' } })
  const rows = await visit.stored('pageview')
  expect(rows.map(({ source, medium }) => [source, medium])).toEqual([
    ['letter', 'email'],
    ['direct', 'none'],
    ['news.example', 'referral'],
    ['ads', 'cpc'],
  ])
})

test('the site that led here keeps the credit, whatever links within the site carry, and a payment page takes none', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': { main: '<a href="/buy?source=pricing">buy</a>' }, '/buy': {}, '/thanks': {} })
  await visit.page.goto(root, { referer: 'https://news.example/' })
  await visit.expectSent('pageview')
  await visit.page.click('a')
  await visit.expectSent('pageview', 2)
  await visit.page.goto(`${root}/thanks`, { referer: 'https://checkout.stripe.com/' })
  await visit.expectSent('pageview', 3)
  await visit.page.evaluate(`Svc.conversion('purchase')`)
  await visit.expectSent('purchase')
  const rows = await visit.stored('pageview')
  expect(rows.map(({ source }) => source)).toEqual(['news.example', 'direct', 'direct'])
  expect(rows[2]).toMatchObject({ referrer: 'https://checkout.stripe.com/' })
  const { top_sources } = await visit.overview()
  expect(top_sources).toEqual([expect.objectContaining({ source: 'news.example', sessions: 1, conversions: 1 })])
})

test('Svc.link carries the visitor to another site of the owner, which takes no credit, and no recorded address has the journey in it', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': {} })
  visit.site('blog.localhost', { '/post': {} })
  await visit.page.goto(`${root}/?utm_source=newsletter&utm_medium=email`)
  const [from] = await visit.expectSent('pageview')
  // Addresses that lead to no site stay as they are.
  for (const address of ['mailto:crew@example.com', 'tel:+4930123456', 'javascript:void(0)', 'http://'])
    expect(await visit.page.evaluate(`Svc.link('${address}')`)).toBe(address)
  const link = await visit.page.evaluate<string>(`Svc.link('http://blog.localhost/post?a=1#end')`)
  expect(new URL(link)).toMatchObject({ host: 'blog.localhost', pathname: '/post', hash: '#end' })
  await visit.page.evaluate(`location.assign(${JSON.stringify(link)})`)
  const [, to] = await visit.expectSent('pageview', 2)
  expect([to!.anonymous_id, to!.session_id]).toEqual([from!.anonymous_id, from!.session_id])
  expect(to!.url).toBe('http://blog.localhost/post?a=1#end')
  expect(await visit.page.evaluate('document.referrer')).toBe(`${root}/`)
  const { first_touch, last_touch } = await visit.page.evaluate<Record<string, object>>('Svc.journey()')
  expect([first_touch, last_touch].map((touch) => Object.keys(touch!))).toEqual(Array(2).fill(['url', 'at']))
  await visit.page.evaluate(`Svc.conversion('purchase')`)
  await visit.expectSent('purchase')
  const rows = await visit.stored()
  expect((await visit.stored('pageview')).map(({ source }) => source)).toEqual(['newsletter', 'direct'])
  const { top_sources } = await visit.overview()
  expect(top_sources).toEqual([expect.objectContaining({ source: 'newsletter', sessions: 1, conversions: 1 })])
  expect(new Set(rows.map(({ visitor }) => visitor)).size).toBe(1)
  for (const row of rows) expect(`${row.url} ${row.referrer}`).not.toContain(String(from!.anonymous_id))
})

test('a link with a password leads a browser on to another site once it is right', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': {} })
  const made = await fetch(`http://127.0.0.1:${surface.front.port}/v1/links`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${visit.workspace.apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ label: 'Spring', destination_url: `${root}/`, password: 'sesame' }),
  })
  const { attribution_key } = (await made.json()) as { attribution_key: string }
  await visit.page.goto(`${productRoot}/l/${attribution_key}`)
  await visit.page.fill('[name="password"]', 'sesam')
  await visit.page.click('button')
  await visit.page.waitForSelector('text=The password is wrong.')
  await visit.page.fill('[name="password"]', 'sesame')
  await visit.page.click('button')
  await visit.page.waitForURL((url) => url.host === shop)
  const [view] = await visit.expectSent('pageview')
  expect(view!.url).toContain('utm_source=svc')
})
