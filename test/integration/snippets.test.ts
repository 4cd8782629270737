/** Snippets by the API: texts under names of their own, for everybody who writes posts. */
import { expect, test } from 'vitest'
import { snippetNameLengthMax, snippetsMax, snippetTextLengthMax } from '../../schemas/limits/snippet-limits.ts'
import type { Snippet } from '../../schemas/resources/snippet.ts'
import { setUpApi } from '../support/api.ts'
import { asking } from '../support/publishing.ts'

const { api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
const add = (name: string, text = '#a') => ask<Snippet>('POST', '/v1/snippets', { name, text })

test('snippets are kept under a name of their own, listed by name, changed, audited without their texts, and deleted', async () => {
  const written = ' \n#spring  #sale\n— 👩‍👩‍👧 <b>'
  const { body: tags } = await add('Tags', written)
  const { body: sign } = await add(' a signature ', '𝒜'.repeat(snippetTextLengthMax))
  expect([tags.text, sign.name, [...sign.text].length]).toEqual([written, 'a signature', snippetTextLengthMax])
  expect((await add(' Tags\u00a0')).body).toEqual({ detail: 'The workspace has a snippet with this name' })
  expect((await ask('GET', '/v1/snippets')).body).toEqual([sign, tags])

  const changed = { ...tags, text: '#summer' }
  const path = `/v1/snippets/${tags.object_id}`
  expect(await ask('PATCH', path, { text: '#summer' })).toEqual({ status: 200, body: changed })
  expect((await ask('PATCH', path, { name: 'a signature' })).status).toBe(409)
  expect(await ask('DELETE', path)).toEqual({ status: 200, body: changed })
  expect(await ask('DELETE', path)).toEqual({ status: 404, body: { detail: 'Snippet not found' } })
  const { body: audit } = await ask<{ action: string; metadata: object }[]>('GET', '/v1/audit-log')
  expect(audit.map(({ action }) => action)).toEqual(
    ['delete', 'update', 'create', 'create'].map((one) => `snippet.${one}`),
  )
  expect(JSON.stringify(audit)).not.toContain('#summer')

  for (let at = 1; at < snippetsMax; at++) expect((await add(`S${at}`)).status).toBe(200)
  const full = { detail: 'The workspace has as many snippets as it may have' }
  expect(await add('One more')).toEqual({ status: 409, body: full })
})

test.each<[object, string, string]>([
  [{ name: 'n'.repeat(snippetNameLengthMax + 1) }, 'name', `at most ${snippetNameLengthMax} characters`],
  [{ name: 'a\nb' }, 'name', 'must be one line'],
  [{ name: ' \u3000 ' }, 'name', 'at least 1 character'],
  [{ text: '' }, 'text', 'at least 1 character'],
  [{ text: ' \n' }, 'text', 'must not be blank'],
  [{ text: 't'.repeat(snippetTextLengthMax + 1) }, 'text', `at most ${snippetTextLengthMax} characters`],
])('%j is refused at %j: %s', async (more, place, text) => {
  const { status, body } = await ask('POST', '/v1/snippets', { name: 'N', text: 'T', ...more })
  expect([status, body.detail[0].loc]).toEqual([422, ['body', place]])
  expect(body.detail[0].msg).toContain(text)
})
