/** Checks of who imports whom. Each takes files and returns offences as sentences: none means tidy. */
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import {
  beyondProduction,
  bootstrapFiles,
  companions,
  freeFolders,
  type Room,
  rooms,
  rootFiles,
  testPackages,
  tools,
  vendors,
} from './import-table.ts'
import { isSource, type ProjectFile } from './project-files.ts'
import { type Import, importsOf } from './source-scan.ts'

export interface PackageJson {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const builtins = new Set(builtinModules)

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtins.has(specifier.split('/')[0]!)
}

function runsInProduction(path: string): boolean {
  return !isFree(path) && !bootstrapFiles.test(path) && !beyondProduction.some((part) => path.startsWith(part))
}

function isFree(path: string): boolean {
  return freeFolders.some((folder) => path.startsWith(folder)) || (rootFiles as readonly string[]).includes(path)
}

/** `@scope/name/deep` → `@scope/name`. */
function packageOf(specifier: string): string {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  return companions[name] ?? name
}

/** The imports of files that belong to a room, the bootstrap files and the free folders left out. */
function* importsOfRooms(files: readonly ProjectFile[]): Generator<Import & { path: string; where: string }> {
  for (const file of files) {
    if (!isSource(file.path) || isFree(file.path) || bootstrapFiles.test(file.path)) continue
    for (const found of importsOf(file)) {
      yield { ...found, path: file.path, where: `${file.path}:${found.line}` }
    }
  }
}

function roomOf(path: string): Room | undefined {
  return rooms.find((room) => path.startsWith(room.at))
}

/** Imports of our own files that the table doesn't allow. */
export function forbiddenArrows(files: readonly ProjectFile[]): string[] {
  const offences: string[] = []
  for (const found of importsOfRooms(files)) {
    if (!found.specifier.startsWith('.')) continue
    const target = posix.join(posix.dirname(found.path), found.specifier)
    const room = roomOf(found.path)
    if (!room) {
      offences.push(`${found.where} is in no room of the table`)
      continue
    }
    const allowed = [room.at, ...room.may, ...(found.typeOnly ? (room.mayTakeTypesFrom ?? []) : [])]
    if (!target.includes('/') || !allowed.some((prefix) => target.startsWith(prefix))) {
      offences.push(`${found.where} imports ${target}: ${room.at} may not`)
    }
  }
  return offences
}

/** Packages imported elsewhere than at their door, or that have no door, or that package.json doesn't name. */
export function strayVendors(files: readonly ProjectFile[], manifest: PackageJson): string[] {
  const offences: string[] = []
  for (const found of importsOfRooms(files)) {
    if (found.specifier.startsWith('.') || isBuiltin(found.specifier)) continue
    const name = packageOf(found.specifier)
    const doors = vendors[name]
    if (!doors) offences.push(`${found.where} imports ${name}, which has no entry in the table`)
    else if (!doors.some((door) => found.path.startsWith(door))) {
      offences.push(`${found.where} imports ${name}, which enters at ${doors.join(', ')} only`)
    } else if (!manifest.dependencies?.[name] && (runsInProduction(found.path) || !manifest.devDependencies?.[name])) {
      offences.push(`${found.where} imports ${name}, which isn't among the dependencies`)
    }
  }
  return offences
}

/** Dependencies that nothing imports, doors that nobody uses, entries of the table for packages that aren't installed. */
export function unusedVendors(files: readonly ProjectFile[], manifest: PackageJson): string[] {
  const importers = new Map<string, string[]>()
  for (const file of files) {
    if (!isSource(file.path)) continue
    for (const { specifier } of importsOf(file)) {
      const name = packageOf(specifier)
      importers.set(name, [...(importers.get(name) ?? []), file.path])
    }
  }
  const isImported = (name: string, where: (path: string) => boolean) => (importers.get(name) ?? []).some(where)
  const offences: string[] = []
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (name in tools) continue
    if (!isImported(name, runsInProduction))
      offences.push(`the dependency ${name} is imported by nothing that runs in production`)
  }
  for (const name of Object.keys(manifest.devDependencies ?? {})) {
    if (name in tools) continue
    const base = name.startsWith('@types/') ? name.slice('@types/'.length) : name
    if (!isImported(base, () => true)) offences.push(`the development dependency ${name} is used by nothing`)
  }
  for (const [name, doors] of Object.entries(vendors)) {
    if (!manifest.dependencies?.[name] && !manifest.devDependencies?.[name])
      offences.push(`the table names ${name}, which isn't a dependency`)
    for (const door of doors) {
      if (!isImported(name, (path) => path.startsWith(door))) offences.push(`nothing imports ${name} at ${door}`)
    }
  }
  for (const [name, runner] of Object.entries(tools)) {
    if (!manifest.dependencies?.[name] && !manifest.devDependencies?.[name])
      offences.push(`the tool ${name} isn't installed`)
    if (!files.some((file) => file.path === runner)) offences.push(`${runner}, which should run ${name}, doesn't exist`)
  }
  for (const name of testPackages) {
    if (!manifest.devDependencies?.[name]) offences.push(`the test package ${name} isn't a development dependency`)
    if (!isImported(name, isFree)) offences.push(`no test or bench imports ${name}`)
  }
  return offences
}

/** The bootstrap runs before dependencies are installed and before anything is built. */
export function bootstrapBeyondNode(files: readonly ProjectFile[]): string[] {
  return files
    .filter((file) => bootstrapFiles.test(file.path))
    .flatMap((file) =>
      importsOf(file)
        .filter(
          ({ specifier }) =>
            !isBuiltin(specifier) && !bootstrapFiles.test(posix.join(posix.dirname(file.path), specifier)),
        )
        .map(
          ({ specifier, line }) => `${file.path}:${line} imports ${specifier}: only Node's own modules are there yet`,
        ),
    )
}
