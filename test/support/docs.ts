/** The project's own pages, read for tests that hold them to the code. */
import { readdirSync, readFileSync } from 'node:fs'
import { projectFile, projectRoot } from '../../runtime/paths.ts'

/** Every page by its path from the root. */
export function docPaths(): string[] {
  const pagesIn = (folder: string) =>
    readdirSync(projectFile(folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => (folder === '.' ? name : `${folder}/${name}`))
  return [...pagesIn('.'), ...pagesIn('docs'), ...pagesIn('decisions')]
}

export function readDoc(path: string): string {
  return readFileSync(projectFile(path), 'utf8')
}

/** The files that git knows of, or would take: folders of packages and builds are none. */
export function sourcePaths(): string[] {
  const left = new Set(['.git', '.cache', '.data', 'node_modules', 'dist'])
  return readdirSync(projectRoot, { withFileTypes: true }).flatMap((entry) => {
    if (left.has(entry.name) || entry.name.startsWith('dist.new-')) return []
    if (!entry.isDirectory()) return [entry.name]
    return readdirSync(projectFile(entry.name), { recursive: true }).map(
      (path) => `${entry.name}/${String(path).replaceAll('\\', '/')}`,
    )
  })
}

/** The rows of the first table behind `heading`, cells trimmed, without its head. */
export function tableOf(page: string, heading: string): string[][] {
  const start = `\n${page}`.indexOf(`\n${heading}\n`)
  if (start < 0) throw new Error(`there is no heading "${heading}"`)
  const lines = page.slice(start + heading.length).split('\n')
  const first = lines.findIndex((line) => line.startsWith('|'))
  const length = lines.slice(first).findIndex((line) => !line.startsWith('|'))
  const rows = lines.slice(first, length < 0 ? undefined : first + length)
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  )
}
