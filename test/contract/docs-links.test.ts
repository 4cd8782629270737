import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../cli/commands.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { projectFile } from '../../runtime/paths.ts'
import { docPaths, readDoc, sourcePaths } from '../support/docs.ts'

const pages = docPaths().map((path) => ({ path, text: readDoc(path) }))

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function anchorsOf(path: string): string[] {
  return [...readDoc(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!))
}

/** Links to nothing: a file that isn't there, a heading that isn't in it. */
function brokenLinks(path: string, text: string): string[] {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!).filter((link) => !/^[a-z]+:/.test(link))
  return links.filter((link) => {
    const [file, anchor] = link.split('#') as [string, string | undefined]
    const target = file === '' ? path : join(dirname(path), file)
    if (!existsSync(projectFile(target))) return true
    return anchor !== undefined && !anchorsOf(target).includes(anchor)
  })
}

const files = sourcePaths()

/** Files in backticks that aren't there. ARCHITECTURE.md leaves out the room's name where it is clear. */
function missingFiles(text: string): string[] {
  const named = [...text.matchAll(/`([\w-]+(?:\/[\w.-]+)*\/?[\w-]+\.(?:ts|mjs|sql|md|json|svg))`/g)].map(
    ([, file]) => file!,
  )
  return named.filter((file) => !/^(dist|node_modules|DATA_DIR)\//.test(file) && !isThere(file))
}

function isThere(file: string): boolean {
  return made.has(file) || files.some((path) => path === file || path.endsWith(`/${file}`))
}
/** Made at run time. */
const made = new Set(['dev.json', 'segment-leases.json'])

/** Scripts of package.json and commands of `svc` that there aren't. */
function unknownCommands(text: string): string[] {
  const scripts = [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(([, run, plain]) => run ?? plain!)
  const known = commands.map(({ name }) => name)
  const typed = [...text.matchAll(/\bnpx svc ([a-z][a-z-]*(?: [a-z]+)?)/g)].map(([, name]) => name!)
  return [
    ...scripts.filter((name) => !(name in packageJson.scripts)),
    ...typed.filter((name) => !known.some((command) => name === command || name.startsWith(`${command} `))),
  ]
}

describe.each(pages)('$path', ({ path, text }) => {
  test('links to what is there', () => {
    expect(brokenLinks(path, text)).toEqual([])
  })

  test('names files that are there', () => {
    expect(missingFiles(text)).toEqual([])
  })

  test('names commands that there are', () => {
    expect(unknownCommands(text)).toEqual([])
  })
})

test('what isn’t there would be found', () => {
  expect(
    brokenLinks('docs/api.md', '[a](../README.md) [b](metrics.md#range) [c](gone.md) [d](metrics.md#gone)'),
  ).toEqual(['gone.md', 'metrics.md#gone'])
  expect(missingFiles('`ingest/http/server.ts`, `ship/claim.ts`, `ingest/gone.ts`')).toEqual(['ingest/gone.ts'])
  expect(unknownCommands('npm start, npm run gone, npx svc keys list, npx svc keys lose')).toEqual([
    'gone',
    'keys lose',
  ])
})
