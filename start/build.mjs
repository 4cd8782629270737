/** The build: TypeScript to dist/, when a source has changed since. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { root, say } from './root.mjs'

const configFile = 'tsconfig.build.json'
const dist = join(root, 'dist')
const freshPrefix = 'dist.new-'
const stampFile = join(dist, '.sources')

/** True when no source was changed, added or removed since the last build. */
export function isBuilt() {
  if (!existsSync(stampFile)) return false
  const [ofFiles, ofTexts] = readFileSync(stampFile, 'utf8').split('\n')
  // Copies, archives and images change the times of files: their texts say whether any is another one.
  return ofFiles === stampOf(timesOf) || ofTexts === stampOf(textsOf)
}

/**
 * `isStrict`: type errors fail it. Otherwise the emitted files run in spite of them, as in any development.
 * `isChecked`: it looks for them at all, which takes three quarters of its time.
 */
export function build({ isStrict, isChecked }) {
  const stamp = `${stampOf(timesOf)}\n${stampOf(textsOf)}`
  say('building')
  // Beside its place, and renamed: a running service goes on with the files of its own build.
  const fresh = join(root, `${freshPrefix}${process.pid}`)
  // Left by builds that were killed: the lock lets one build at a time.
  for (const left of readdirSync(root).filter((name) => name.startsWith(freshPrefix)))
    rmSync(join(root, left), { recursive: true, force: true })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = ['-p', configFile, '--outDir', fresh, ...(isChecked ? [] : ['--noCheck'])]
  const { stdout, stderr, error } = spawnSync(process.execPath, [tsc, ...options], {
    cwd: root,
    encoding: 'utf8',
  })
  const errors = (stdout ?? '').split('\n').filter((line) => line.includes(': error TS'))
  if (errors.length > 0) process.stderr.write(`${errors.slice(0, 10).join('\n')}\n`)
  if (!existsSync(fresh) || (isStrict && errors.length > 0)) {
    rmSync(fresh, { recursive: true, force: true })
    process.stderr.write(`the build failed${error ? `: ${error.message}` : `${stderr ? `: ${stderr.trim()}` : ''}`}\n`)
    process.exit(1)
  }
  if (errors.length > 0)
    say(`${errors.length} type errors, going on without regard to them (\`npm run types\` shows all)`)
  bundleScript(fresh)
  copyReference(fresh)
  renderGuides(fresh)
  writeFileSync(join(fresh, '.sources'), stamp)
  // Deleted only when the new files are there: that takes seconds, in which a service may be started again.
  const before = `${fresh}-before`
  if (existsSync(dist)) renameSync(dist, before)
  renameSync(fresh, dist)
  rmSync(before, { recursive: true, force: true })
}

/** The script that browsers get. It is committed: where it can't be made or written, that one is served. */
function bundleScript(fresh) {
  const { status } = spawnSync(process.execPath, [join(fresh, 'web/bundle/generate.js')], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) say('the browser script was not made anew')
}

/** Copies the viewer of `/docs`: two files of a package of 12 MB, so that production doesn't install it. */
function copyReference(fresh) {
  const folder = join(fresh, 'web/reference')
  mkdirSync(folder, { recursive: true })
  for (const name of [
    'swagger-ui-bundle.js',
    'swagger-ui-bundle.js.LICENSE.txt',
    'swagger-ui.css',
    'LICENSE',
    'NOTICE',
  ]) {
    copyFileSync(join(root, 'node_modules/swagger-ui-dist', name), join(folder, name))
  }
}

/** The pages of `/guides`. */
function renderGuides(fresh) {
  const file = join(fresh, 'web/guides.json')
  const { status } = spawnSync(process.execPath, [join(fresh, 'web/bundle/guides.js'), file], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new Error('the guides could not be rendered')
}

function timesOf(path) {
  const { mtimeMs, size } = statSync(path)
  return `${mtimeMs} ${size}\n`
}

function textsOf(path) {
  return readFileSync(path)
}

/** A stamp over all sources: `of` gives a file's part of it, by the file's path. */
function stampOf(of) {
  const { include } = JSON.parse(readFileSync(join(root, configFile), 'utf8'))
  const hash = createHash('sha256')
  const add = (path) => {
    hash.update(`${path} `)
    hash.update(of(join(root, path)))
  }
  for (const path of [configFile, 'tsconfig.json', 'package-lock.json']) add(path)
  for (const folder of [...include, 'web/script', 'web/player', 'web/dashboard', 'docs']) {
    if (!existsSync(join(root, folder))) continue
    for (const entry of readdirSync(join(root, folder), { recursive: true }).sort()) {
      if (/\.(tsx?|css|m?js|json|md)$/.test(entry)) add(join(folder, entry))
    }
  }
  return hash.digest('hex')
}
