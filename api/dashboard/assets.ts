/** Script and style of the dashboard as web/bundle makes them: their names say their content, so a browser never asks for one twice. */
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { projectFile } from '../../runtime/paths.ts'
import { type StaticPage, staticPages } from '../static-pages.ts'

interface Bundle {
  readonly script: string
  readonly style: string
  /** Loaded with the script. */
  readonly chunks: readonly string[]
  /** The script of the document that plays recordings. */
  readonly player: string
}

const folder = projectFile('web/generated/dashboard')
const root = '/dashboard/files'
const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** Tags for the head of a page with the script. */
export const headTags = tagsOf(JSON.parse(readFileSync(`${folder}/bundle.json`, 'utf8')) as Bundle)

function tagsOf({ script, style, chunks, player }: Bundle) {
  const preloads = chunks.map((chunk) => `<link rel="modulepreload" href="${root}/${chunk}">`)
  return {
    style: `<link rel="stylesheet" href="${root}/${style}">`,
    script: `${preloads.join('')}<script type="module" src="${root}/${script}"></script>`,
    playerOf: (nonce: string) => `<script nonce="${nonce}" defer src="${root}/${player}"></script>`,
  }
}

const files = readdirSync(folder).filter((name) => Object.hasOwn(types, extensionOf(name)))

/** @param headers of each, besides its type */
export function makeAssets(headers: Readonly<Record<string, string>>): Readonly<Record<string, StaticPage>> {
  return staticPages(
    Object.fromEntries(
      files.map((file) => [
        `${root}/${file}`,
        { type: types[extensionOf(file)]!, read: () => readFile(`${folder}/${file}`) },
      ]),
    ),
    { ...headers, 'Cache-Control': 'public, max-age=31536000, immutable' },
  )
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}
