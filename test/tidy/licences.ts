/** Which licences our dependencies may have: those that ask for no more than to be named. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** SPDX identifiers. */
const permissive: ReadonlySet<string> = new Set([
  ...'0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause BSD CC0-1.0'.split(' '),
  ...'ISC MIT MIT-0 PostgreSQL Python-2.0 Unlicense Zlib'.split(' '),
])

export interface Installed {
  readonly name: string
  /** As its package.json states it; older packages use an object or a list. */
  readonly licence: unknown
}

interface LockEntry {
  dev?: boolean
  license?: unknown
  optionalDependencies?: Record<string, string>
}

interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>
}

/**
 * Packages that production runs, direct or not, and the packages `also` with their parts for each platform. The lock
 * knows the licence of a part for another platform, which isn't installed, or else it is that of the whole.
 */
export function runningPackages(root: string, also: readonly string[]): Installed[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && (!entry.dev || also.some((name) => isOf(name, path))))
    .map(([path, entry]) => {
      const manifestPath = join(root, path, 'package.json')
      if (!existsSync(manifestPath)) return { name: path, licence: entry.license ?? wholeOf(path, lock)?.license }
      const manifest = JSON.parse(readFileSync(manifestPath, 'utf8')) as { license?: unknown; licenses?: unknown }
      return { name: path, licence: manifest.license ?? manifest.licenses }
    })
}

/** True for the package itself and those of its scope: `chdb` and `@chdb/lib-linux-x64`. */
function isOf(name: string, path: string): boolean {
  return path === `node_modules/${name}` || path.startsWith(`node_modules/@${name}/`)
}

function wholeOf(part: string, lock: Lock): LockEntry | undefined {
  const name = part.slice(part.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return Object.values(lock.packages).find(({ optionalDependencies }) => optionalDependencies?.[name])
}

export function unfreeLicences(packages: readonly Installed[]): string[] {
  return packages
    .filter(({ licence }) => !isPermissive(licence))
    .map(({ name, licence }) => `${name}: ${JSON.stringify(licence)}`)
}

/** `A OR B` needs one of them; `A AND B` needs both. */
function isPermissive(licence: unknown): boolean {
  if (Array.isArray(licence)) return licence.length > 0 && licence.every(isPermissive)
  if (typeof licence === 'object' && licence !== null && 'type' in licence) return isPermissive(licence.type)
  if (typeof licence !== 'string') return false
  const text = licence.trim().replace(/^\((.*)\)$/, '$1')
  const anyOf = text.split(/\s+OR\s+/i)
  if (anyOf.length > 1) return anyOf.some(isPermissive)
  const allOf = text.split(/\s+AND\s+/i)
  if (allOf.length > 1) return allOf.every(isPermissive)
  return permissive.has(text)
}
