/** Where the project's own files lie, whether the code runs from `dist/` or from its sources. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('package.json not found above the running code')
    folder = parent
  }
  return folder
}

/** The folder that holds package.json. */
export const projectRoot = findRoot()

/** A file of the project, by its path from the root: `projectFile('clickhouse/migrations')`. */
export function projectFile(...parts: string[]): string {
  return join(projectRoot, ...parts)
}
