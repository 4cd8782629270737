/** The guides, as somebody reads them who has nothing but the address of the product. */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { guides } from '../../api/guides.ts'
import { projectFile } from '../../runtime/paths.ts'
import { setUpApi } from '../support/api.ts'

const { api } = setUpApi()

const linksOf = (text: string) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!)

async function read(path: string): Promise<string> {
  const response = await api.ask(path)
  expect([path, response.status]).toEqual([path, 200])
  return response.text()
}

test('every page of docs/ is listed', () => {
  const listed = Object.values(guides).flatMap((section) => Object.keys(section))
  const pages = readdirSync(projectFile('docs')).filter((name) => name.endsWith('.md'))
  expect(listed.map((name) => `${name}.md`).sort()).toEqual(pages.sort())
})

test('from the index everything is found, and no link leads to nothing', async () => {
  const seen = new Set<string>()
  const waiting = ['/llms.txt', '/guides']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const text = await read(path)
    if (path.endsWith('.json')) continue
    const own = linksOf(text).filter((link) => !/^(https?:|mailto:|#)/.test(link))
    waiting.push(...own.map((link) => new URL(link, `${api.url}${path}`).pathname))
  }
  const named = Object.values(guides).flatMap((section) => Object.keys(section).map((name) => `/guides/${name}.md`))
  expect([...seen].sort()).toEqual(['/guides', '/llms.txt', '/v1/openapi.json', ...named].sort())
})

test('llms.txt has the form of its convention: a title, a summary, sections of links with a line each', async () => {
  const lines = (await read('/llms.txt')).split('\n').filter((line) => line !== '')
  expect(lines[0]).toMatch(/^# \S/)
  expect(lines[1]).toMatch(/^> \S/)
  const items = lines.slice(3)
  for (const line of items) expect(line).toMatch(/^(## \S.*|- \[[\w-]+\]\(\/guides\/[\w-]+\.md\): \S.*)$/)
})

test('a guide is markdown that no browser takes for a page', async () => {
  const { headers } = await api.ask('/guides/api.md')
  expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('etag')).not.toBe(null)
  expect((await api.ask('/guides/gone.md')).status).toBe(404)
  expect((await api.ask('/guides/../package.json')).status).toBe(404)
})
