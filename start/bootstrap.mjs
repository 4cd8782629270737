/**
 * The first thing that every command runs, in plain JavaScript and without packages, because there may be none yet. It
 * checks Node, installs dependencies that are missing or stale, and builds when the sources have changed. Then it becomes
 * the command, in this same process, so that signals and exit codes are the command's own.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, isBuilt } from './build.mjs'
import { install, isInstalled, requireNode } from './install.mjs'
import { underLock } from './lock.mjs'
import { root } from './root.mjs'
import { runTests, testCommands } from './test-run.mjs'

const mains = {
  start: 'start/main.js',
  ingest: 'ingest/main.js',
  api: 'api/main.js',
  pipeline: 'pipeline/main.js',
  svc: 'cli/svc.js',
  bench: 'bench/main.js',
  generate: 'schemas/generate.js',
}

/**
 * Programs of production. They run without the packages that only development and `npm start` need; a build needs these
 * too.
 */
const services = ['ingest', 'api', 'pipeline', 'svc']

/** They take no arguments: all settings are in the environment. */
const summaries = {
  start: 'Starts the whole product on this machine.',
  ingest: 'Starts the ingest service by itself.',
  api: 'Starts the API by itself.',
  pipeline: 'Starts the pipeline by itself.',
  generate: 'Writes the generated sources anew.',
  build: 'Compiles the sources to dist/.',
}

const [command, ...args] = process.argv.slice(2)
await bootstrap(command, args)

async function bootstrap(command, args) {
  requireNode()
  const isTest = testCommands.includes(command)
  if (!isTest && command !== 'build' && !(command in mains)) {
    fail(`unknown command \`${command ?? ''}\`: one of ${[...Object.keys(mains), ...testCommands, 'build'].join(', ')}`)
  }
  if (Object.hasOwn(summaries, command)) refuseArguments(command, args)
  const needsTools = !services.includes(command) || !isBuilt()
  // A finished installation may belong to another user, and needs no lock.
  if (command === 'build' || !isInstalled(needsTools) || !isBuilt()) {
    underLock(() => {
      if (!isInstalled(needsTools)) install(needsTools)
      // These check all types themselves.
      const isChecked = !['test', 'test:quick'].includes(command) || args.length > 0
      if (command === 'build' || !isBuilt()) build({ isStrict: command === 'build', isChecked })
    })
  }
  if (command === 'build') return
  if (isTest) process.exit(await runTests(command, args))

  const file = join(root, 'dist', mains[command])
  if (!existsSync(file)) fail(`this version has no command \`${command}\``)
  process.argv = [process.argv[0], file, ...args]
  await import(pathToFileURL(file).href)
}

function refuseArguments(command, args) {
  const run = command === 'start' ? 'npm start' : `npm run ${command}`
  const settings = `Settings are environment variables, as in \`PORT=8081 ${run}\`: docs/settings.md lists them.`
  const [first] = args
  if (args.length > 0 && args.every((word) => word === '--help')) {
    process.stdout.write(`${run}\n\n${summaries[command]} It takes no options. ${settings}\n`)
    process.exit(0)
  }
  if (first !== undefined) fail(`${run} takes no \`${first}\`. ${settings}`, 2)
}

function fail(line, exitCode = 1) {
  process.stderr.write(`${line}\n`)
  process.exit(exitCode)
}
