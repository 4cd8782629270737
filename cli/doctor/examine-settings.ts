/** The environment: what can't be used, what looks like one of ours and is none, and what production needs. */
import { readFileSync } from 'node:fs'
import { isLoopback } from '../../runtime/loopback.ts'
import { projectFile } from '../../runtime/paths.ts'
import { settings } from '../../runtime/settings.ts'
import { distance } from '../closest.ts'
import type { Environment } from '../command.ts'
import type { Installation } from '../installation.ts'
import { type Finding, failed, isOlder, ok, tooOld, warning } from './finding.ts'

/** A secret of fewer different characters was typed, not made. */
const secretCharactersMin = 10

export function examineNode(version = process.versions.node): Finding {
  const { engines } = JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as { engines: { node: string } }
  const wanted = engines.node.replace(/^>=/, '')
  return isOlder(version, wanted) ? tooOld('node', version, wanted) : ok('node', `version ${version}`)
}

export function examineSettings({ variables, wrong }: Environment, installation: Installation): Finding[] {
  const findings = [
    ...[...wrong.values()].map(({ message }) => failed('settings', message)),
    ...misspelt(Object.keys(variables).filter((name) => variables[name])),
    ...secret(installation, wrong.has('SECRET_KEY')),
    ...(installation.config.nodeEnv === 'production' ? production(installation) : []),
  ]
  return findings.length > 0 ? findings : [ok('settings', 'all can be used')]
}

function misspelt(names: readonly string[]): Finding[] {
  const known = Object.values(settings).map(({ name }) => name)
  return names.flatMap((name) => {
    if (known.includes(name)) return []
    const meant = known.find((setting) => looksLike(name, setting))
    return meant === undefined ? [] : [warning('settings', `${name} is none of ours: is ${meant} meant?`)]
  })
}

/** Below this length a name is too easily like another: PORT. */
const comparedLengthMin = 7

/** Two letters off, the same words in another order, or its beginning: DATABASE_URI, DISK_FREE_MIN_BYTES, DEDUP_WINDOW. */
function looksLike(name: string, setting: string): boolean {
  const [given, own] = [name, setting].map((text) => text.toUpperCase().replaceAll('-', '_')) as [string, string]
  if (given === own) return true
  if (own.length < comparedLengthMin || given.length < comparedLengthMin) return false
  const words = (text: string) => text.split('_').sort().join()
  const isBeginning = own.startsWith(`${given}_`) && given.includes('_')
  return isBeginning || words(given) === words(own) || distance(given, own) <= 2
}

function secret({ config, keptSecret }: Installation, isWrong: boolean): Finding[] {
  const key = config.secretKey || keptSecret()
  if (!key) {
    // Without a store of its own this is an installation that `npm start` makes one for.
    if (isWrong || config.databaseUrl === undefined) return []
    const advice = '`openssl rand -hex 32` makes one, the same for all nodes'
    return [failed('settings', `SECRET_KEY isn't set, and no service starts without it: ${advice}`)]
  }
  if (new Set(key).size >= secretCharactersMin) return []
  return [warning('settings', 'SECRET_KEY has hardly any different characters: whoever guesses it tells visitors')]
}

function production({ config, runningIngestUrl }: Installation): Finding[] {
  const findings: Finding[] = []
  const isByStart = config.databaseUrl === undefined || runningIngestUrl() !== undefined
  // `npm start` believes a proxy on this machine, and no other reaches it there.
  const isProxyKnown = isByStart && isLoopback(config.listenHost)
  if (config.trustedProxies.length === 0 && !isProxyKnown) {
    const why = 'behind a balancer all visitors have its address, and no country: name its addresses'
    findings.push(warning('settings', `TRUSTED_PROXIES isn't set: ${why}`))
  }
  if (config.apiHost === undefined) {
    findings.push(warning('settings', "API_HOST isn't set: links would name localhost; set the public root of the API"))
  } else if (isLoopback(new URL(config.apiHost).hostname)) {
    findings.push(warning('settings', 'API_HOST names this machine: set the public root of the API'))
  }
  return findings
}
