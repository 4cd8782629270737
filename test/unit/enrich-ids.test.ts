import { describe, expect, test } from 'vitest'
import { networkOf } from '../../runtime/http/network-of.ts'
import { type Around, chrome, type EventLike, enrich, makeEnrich, now, rowOf } from '../support/enriching.ts'

const day = 86_400_000
const noHash = { hi: 0, lo: 0 }
const visitorOf = (event: EventLike, around?: Around) => {
  const { hi, lo } = rowOf(event, around).visitor
  return `${hi}:${lo}`
}
const sessionOf = (event: EventLike, around?: Around) => rowOf(event, around).session

describe('the visitor', () => {
  test('is its anonymous id, within the workspace, whatever else the event says, on every node of one secret', () => {
    const known = visitorOf({ anonymous_id: 'a' })
    const more = { anonymous_id: 'a', email: 'a@example.com', event_name: 'x' }
    expect(visitorOf(more, { sender: { address: '::1', userAgent: '' } })).toBe(known)
    expect(visitorOf({ anonymous_id: 'b' })).not.toBe(known)
    expect(visitorOf({ anonymous_id: 'a' }, { workspace: { id: 8 } })).not.toBe(known)
    expect(rowOf({ anonymous_id: 'a' }).anonymous_id).toBe('a')
    const other = makeEnrich()({ anonymous_id: 'a' })
    expect(other.stream === 'events' && other.row.visitor).toEqual(rowOf({ anonymous_id: 'a' }).visitor)
  })

  test('without an id is address and user agent on one day of receipt', () => {
    const here = visitorOf({})
    expect(visitorOf({ event_name: 'x', occurred_at: new Date(now - day).toISOString() })).toBe(here)
    expect(visitorOf({}, { sender: { receivedAt: now + 3_600_000 } })).toBe(here)
    const others = [{ receivedAt: now + day }, { address: '192.0.2.2' }, { userAgent: `${chrome} ` }]
    for (const sender of others) expect(visitorOf({}, { sender })).not.toBe(here)
    expect(visitorOf({}, { workspace: { id: 8 } })).not.toBe(here)
    expect(rowOf({}).anonymous_id).toBe('')
  })

  test('without an id may be told of by a server, with the address and user agent of the visitor', () => {
    const itself = visitorOf({}, { sender: { address: '198.51.100.7', userAgent: chrome } })
    const server = { sender: { address: '10.0.0.1', userAgent: 'axios/1' } }
    expect(visitorOf({ ip: '198.51.100.7', user_agent: chrome }, server)).toBe(itself)
  })

  test('of one household by IPv6 is one, by the first 64 bits', () => {
    const visitorAt = (address: string) => visitorOf({}, { sender: { address } })
    expect(visitorAt('2001:db8:1:2:3:4:5:6')).toBe(visitorAt('2001:db8:1:2::9'))
    expect(visitorAt('2001:db8:1:3::9')).not.toBe(visitorAt('2001:db8:1:2::9'))
    expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(networkOf('no:address')).toBe('no:address')
  })

  test('is none for a server event: an e-mail without an anonymous id', () => {
    const row = rowOf({ email: 'ada@example.com', session_id: 's', event_type: 'conversion', event_name: 'paid' })
    expect(row).toMatchObject({ visitor: noHash, session: 0, session_named: 0 })
  })

  test.each([
    '',
    '  ',
    ...'anonymous Guest distinct_id distinctid id not_authenticated email'.split(' '),
    ...'undefined NULL none NaN true false 0 -1'.split(' '),
    '[object Object]',
    ' null ',
    `null${' '.repeat(30)}`,
    ' '.repeat(40),
  ])('has no id where the id is nobody’s: %j', (id) => {
    expect(visitorOf({ anonymous_id: id })).toBe(visitorOf({}))
    expect(rowOf({ anonymous_id: id, email: id })).toMatchObject({ anonymous_id: '', email_hash: noHash })
    expect(rowOf({ session_id: id }).session_named).toBe(0)
  })
})

describe('the session', () => {
  test('is its named id, within the workspace', () => {
    const known = sessionOf({ session_id: 's', anonymous_id: 'a' })
    expect(rowOf({ session_id: 's', anonymous_id: 'b' })).toMatchObject({ session: known, session_named: 1 })
    expect(sessionOf({ session_id: 't', anonymous_id: 'a' })).not.toBe(known)
    expect(sessionOf({ session_id: 's', anonymous_id: 'a' }, { workspace: { id: 8 } })).not.toBe(known)
  })

  test('without one is the visitor’s of that UTC day', () => {
    const at = (ms: number) => sessionOf({ anonymous_id: 'a', occurred_at: new Date(ms).toISOString() })
    const midnight = Date.UTC(2026, 10, 20)
    expect(rowOf({ anonymous_id: 'a' })).toMatchObject({ session: at(midnight), session_named: 0 })
    expect(at(midnight - 1)).not.toBe(at(midnight))
    expect(sessionOf({ anonymous_id: 'b' })).not.toBe(sessionOf({ anonymous_id: 'a' }))
  })

  test('is an integer that JSON holds, and never zero for a visitor', () => {
    for (let id = 0; id < 2000; id++) {
      const session = sessionOf({ anonymous_id: `a${id}`, session_id: `s${id}` })
      expect(Number.isSafeInteger(session) && session > 0).toBe(true)
    }
  })
})

describe('the e-mail', () => {
  test('is hashed trimmed and in lower case, and stands nowhere in the row', () => {
    const row = rowOf({ email: ' Ada@Example.com ', anonymous_id: 'a' })
    expect(row.email_hash).toEqual(rowOf({ email: 'ada@example.com' }).email_hash)
    expect(row.email_hash).not.toEqual(noHash)
    expect(JSON.stringify(row).toLowerCase()).not.toContain('ada@example')
    expect(rowOf({ anonymous_id: 'a' }).email_hash).toEqual(noHash)
  })

  test('goes to people by the side payload of identify and conversion events alone', () => {
    const own = { anonymous_id: 'a', properties: { company: 'x' }, source: 's' }
    const event = { ...own, email: ' Ada@Example.com ', full_name: ' Ada ' }
    const sideOf = (more: EventLike) => {
      const enriched = enrich({ ...event, ...more })
      return enriched.stream === 'events' && enriched.side
    }
    expect(sideOf({ event_type: 'identify', event_name: 'identify' })).toEqual({
      event_id: 0,
      workspace_id: 7,
      event_type: 'identify',
      event_name: 'identify',
      ...own,
      email: 'ada@example.com',
      full_name: 'Ada',
      medium: 'none',
      campaign: '',
      content: '',
      occurred_at: now,
      received_at: now,
    })
    const paid = { event_type: 'conversion', event_name: 'paid', email: null, full_name: null } as const
    expect(sideOf(paid)).toMatchObject({ event_type: 'conversion', email: null, full_name: '' })
    expect(sideOf({})).toBeNull()
  })
})
