/** Names stand in lists, mails and terminals: none breaks a line, acts on a terminal or turns the text behind it, wherever it is given. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { setUpMembers } from '../support/members.ts'

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
const { signInOwner } = setUpMembers({ stores, api })

const unwanted = ['a\nb', 'a\u001b[31mb', 'a\u0085b', 'a\u2028b', 'a\u202eb', 'a\u2066b']
const fault = 'Value error, the text must be one line, without control characters and marks that turn its direction'
const goal = { kind: 'event', value: 'signup' }
const link = { label: 'l', destination_url: 'https://example.com/' }

const given: [string, string, (text: string) => object, (string | number)[]][] = [
  ['POST', '/workspaces', (name) => ({ name }), ['name']],
  ['PATCH', '/workspace/settings', (name) => ({ name }), ['name']],
  ['POST', '/goals', (name) => ({ ...goal, name }), ['name']],
  ['POST', '/segments', (name) => ({ name, filters: { channel: ['Email'] } }), ['name']],
  ['POST', '/notes', (text) => ({ day: '2026-11-20', text }), ['text']],
  ['POST', '/api-keys', (name) => ({ name, scopes: ['posts:read'] }), ['name']],
  ['POST', '/shared-links', (name) => ({ name }), ['name']],
  ['POST', '/webhooks', (description) => ({ url: 'https://example.com/', description }), ['description']],
  ['POST', '/links', (title) => ({ ...link, preview: { title } }), ['preview', 'title']],
]

test.each(given)(
  '%s %s refuses unwanted characters, and takes emoji and any script',
  async (method, path, bodyOf, loc) => {
    const ask = await signInOwner(mine)
    for (const text of unwanted) {
      const { status, body } = await ask(method, path, bodyOf(text))
      expect([text, status, body.detail]).toMatchObject([text, 422, [{ loc: ['body', ...loc], msg: fault }]])
    }
    const { status, body } = await ask(method, path, bodyOf('👩‍🔧 متجر المرفأ & Größe'))
    expect([status, body.detail]).toEqual([200, undefined])
  },
)

test.each(given.filter(([, path]) => path !== '/webhooks'))('%s %s refuses blanks', async (method, path, bodyOf) => {
  const { status } = await (await signInOwner(mine))(method, path, bodyOf(' \u3000'))
  expect(status).toBe(422)
})

test.each([
  ['keys', 'create', '--scopes', 'all', '--name'],
  ['workspace', 'create', '--name'],
])('svc %s %s refuses them', async (...words) => {
  for (const text of unwanted) {
    const { code, err } = await svcOn(stores, ...words, text)
    expect([text, code, err]).toEqual([text, 2, expect.stringContaining('--name must be one line of plain text')])
  }
})
