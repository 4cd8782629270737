import { expect, test } from 'vitest'
import { bodyOf } from '../../pipeline/chat/write-body.ts'
import { type Message, plain } from '../../pipeline/reports/message.ts'
import { chatKinds } from '../../schemas/chat-kinds.ts'
import { faultOf } from '../support/chat-server.ts'

const message = (name: string, hostile: string): Message => {
  const row = { label: plain(hostile), value: '1,234,567', note: plain(hostile) }
  const rows = Array.from({ length: 7 }, () => row)
  return {
    name: plain(name),
    headline: 'Nov 9 – 15, 2026',
    reason: '',
    note: 'No figures are kept from before Oct 3, 2026: the plan says so.',
    linkText: 'All figures',
    dashboardUrl: 'https://api.example.com/dashboard?start=2026-11-09&end=2026-11-15',
    tables: [
      { title: 'Figures', rows },
      { title: 'Pages, by page views', rows: rows.slice(2) },
      { title: 'Sources, by visitors', rows: [] },
      { title: 'More sources', rows: rows.slice(2) },
    ],
  }
}

const hostile = [
  '<!channel> <@U123> <users/all> <https://evil.example|x> &lt;',
  '@everyone @here @channel <@&1> [x](https://evil.example) ![x](https://evil.example/x.png)',
  '``` \n```*bold* _x_ ~x~ `x` @all',
  'a"\\\u202E\r\n\u0000{{DATE(2026-01-01)}} <at>all</at>',
]

test.each(chatKinds)(
  '%s takes a message whose names are hostile, and whose names are of any length in any script',
  (kind) => {
    for (const text of [
      ...hostile,
      ...['&', '<', '`', '漢', '👩‍👩‍👧', '"', '\\', '@'].map((letter) => letter.repeat(500)),
      '',
    ]) {
      const raw = JSON.stringify(bodyOf(kind, message(`Ac${text}`, `/${text}`)))
      expect(faultOf(kind, 'application/json; charset=UTF-8', raw), text.slice(0, 20)).toBeUndefined()
    }
  },
)

test('each chat escapes as it wants, the figure stands before the name, and Teams shows texts as they are', () => {
  const [angle, brackets] = ['/a<b>&c', '[x](y)_']
  const write = (kind: (typeof chatKinds)[number]) => JSON.stringify(bodyOf(kind, message(brackets, angle)))
  expect(write('slack')).toContain('1,234,567  /a&lt;b&gt;&amp;c (/a&lt;b&gt;&amp;c)')
  expect(write('slack')).toContain('?start=2026-11-09&amp;end=2026-11-15|All figures>')
  expect(write('google_chat')).toContain('1,234,567  /a‹b›&c')
  const compatible = JSON.stringify(bodyOf('slack', message(brackets, angle), true))
  expect(compatible).toContain('1,234,567  /a‹b›&c (/a‹b›&c)')
  expect(compatible).toContain('&amp;end=2026-11-15|All figures>')
  expect(write('google_chat')).toContain('?start=2026-11-09&end=2026-11-15|All figures>')
  expect(write('discord')).toContain('1,234,567  /a<b>&c')
  expect(write('discord')).toContain(JSON.stringify('**\\[x\\]\\(y\\)\\_\\: Nov').slice(1, -1))
  expect(write('teams')).toContain('"  /a<b>&c"')
  expect(write('teams')).toContain(`"${brackets}: Nov`)
})

test('a message without the address of the dashboard has no link, and one without lists is whole', () => {
  const bare = { ...message('Acme', ''), dashboardUrl: '', tables: [] }
  for (const kind of chatKinds) {
    const raw = JSON.stringify(bodyOf(kind, bare))
    expect(faultOf(kind, 'application/json; charset=UTF-8', raw)).toBeUndefined()
    expect(raw).not.toContain('All figures')
  }
})

test('a long list of amounts leaves the other figures in sight, and a row without a value is taken', () => {
  const amounts = Array.from({ length: 15 }, () => 'AUD 12,345.00').join(', ')
  const rows = ['1,234', amounts, ''].map((value) => ({ label: 'Visitors', value, note: '' }))
  for (const kind of chatKinds) {
    const raw = JSON.stringify(bodyOf(kind, { ...message('Acme', ''), tables: [{ title: 'Figures', rows }] }))
    expect(faultOf(kind, 'application/json; charset=UTF-8', raw)).toBeUndefined()
    if (kind !== 'teams') expect(raw).toContain('\\n1,234  Visitors\\n')
  }
})
