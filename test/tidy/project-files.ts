/** The files of the project, as the checks of this folder see them: what git knows or would take in, no build output. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../runtime/paths.ts'

export interface ProjectFile {
  /** From the project's root, with forward slashes. */
  readonly path: string
  readonly text: string
}

let known: ProjectFile[] | undefined

/** All text files of the project, read once. Binary ones (a NUL within) are left out: no rule here reads them. */
export function projectFiles(): readonly ProjectFile[] {
  known ??= readProjectFiles()
  return known
}

function readProjectFiles(): ProjectFile[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const paths = [...new Set(listed.split('\0'))].filter((path) => path !== '').sort()
  return paths
    .filter((path) => existsSync(join(projectRoot, path)))
    .map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') }))
    .filter((file) => !file.text.includes('\0'))
}

/** Nearly all of them a vendor's, whose texts look like code of a server. */
const vendorBundles = /^web\/generated\/(dashboard\/player-|svc-replay\.)/

export function isSource(path: string): boolean {
  return /\.(tsx?|mts|mjs|js)$/.test(path) && !path.endsWith('.d.ts') && !vendorBundles.test(path)
}

/** Written by a program, checked by a test that writes it again: no rule about how code reads applies. */
export function isGenerated(path: string): boolean {
  return path.split('/').includes('generated')
}
