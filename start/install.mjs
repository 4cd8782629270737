/** Dependencies: whether they are those of package-lock.json, and their installation. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, say } from './root.mjs'

/** Ends the process with one line when this Node is too old. */
export function requireNode() {
  const { engines } = readJson('package.json')
  const [major, minor] = engines.node.replace('>=', '').split('.').map(Number)
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return
  process.stderr.write(`Node ${engines.node.replace('>=', '')} or newer is needed; this is ${process.versions.node}\n`)
  process.exit(1)
}

/** Runs `npm ci`, or ends the process. `withTools`: with the packages that only development needs. */
export function install(withTools) {
  say(existsSync(join(root, 'node_modules')) ? 'updating the dependencies' : 'installing the dependencies')
  const npm = process.env.npm_execpath
  const [command, args] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  const omitted = process.env.npm_config_omit ?? ''
  const env = {
    ...process.env,
    npm_config_omit: withTools ? '' : omitted,
    NODE_ENV: withTools ? '' : (process.env.NODE_ENV ?? ''),
  }
  // Its report goes to standard error: a command's own output may be read by a program.
  const { status, error } = spawnSync(command, [...args, 'ci', '--no-audit', '--no-fund'], {
    cwd: root,
    env,
    stdio: ['ignore', 2, 2],
  })
  if (status === 0) return
  process.stderr.write(
    `the dependencies couldn't be installed${error ? `: ${error.message}` : ' (npm says why above)'}\n`,
  )
  process.exit(1)
}

/**
 * True when what is installed is what package-lock.json says: npm keeps the list of what it has installed in
 * node_modules, written last.
 */
export function isInstalled(withTools) {
  const installed = readJson('node_modules/.package-lock.json')?.packages
  if (!installed) return false
  return Object.entries(readJson('package-lock.json').packages).every(([path, wanted]) => {
    if (path === '' || wanted.link) return true
    const found = installed[path]
    // Packages for other systems aren't installed, nor are tools in production.
    if (!found) return wanted.optional || wanted.peer || wanted.devOptional || (wanted.dev && !withTools)
    return found.version === wanted.version && found.integrity === wanted.integrity
  })
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8'))
  } catch {
    return undefined
  }
}
