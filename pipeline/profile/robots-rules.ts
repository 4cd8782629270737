/**
 * Whether a robots.txt allows an address. Matching takes as many steps as the rules have letters, times the length of the
 * path. Only the rules that are for us count, and too many of them are not tried: all workspaces would wait.
 */
import robots from 'robots-parser'
import { robotsStepsMax } from '../../schemas/limits/profile-limits.ts'

/** Its types say less than CommonJS gives. */
const readRobots = robots as unknown as typeof robots.default

export interface Robots {
  /** Where it was asked for: rules hold for this host alone. */
  readonly url: string
  readonly text: string
}

/** @returns undefined where it has more rules than are tried */
export function isAllowed(url: string, robots: Robots, userAgent: string): boolean | undefined {
  const rules = rulesFor(userAgent, robots.text)
  const { pathname, search } = new URL(url)
  const steps = rules.reduce((sum, rule) => sum + stepsOf(rule), 0) * (pathname.length + search.length)
  if (steps > robotsStepsMax) return undefined
  return readRobots(robots.url, ['user-agent:*', ...rules].join('\n')).isAllowed(url, userAgent) !== false
}

/** For each letter of the path, at most. Up to the first wildcard a rule fits at one place, after it at any. */
function stepsOf(rule: string): number {
  const wildcard = rule.indexOf('*')
  return 1 + (wildcard < 0 ? 0 : encodeURI(rule.slice(wildcard)).length)
}

/** Those of the groups that name us, else of the groups for all. Each is a line. */
function rulesFor(userAgent: string, text: string): readonly string[] {
  const groups = new Map<string, string[]>()
  const named = new Set<string>()
  let isNaming = false
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, key, value] = /^([^:#]*):([^#]*)/.exec(line)?.map((part) => part.trim()) ?? []
    if (key === undefined || key === '' || value === undefined) continue
    const name = key.toLowerCase()
    // Any other line, such as a sitemap's, ends no group.
    if (!['user-agent', 'allow', 'disallow', 'crawl-delay'].includes(name)) continue
    if (name === 'user-agent' && !isNaming) named.clear()
    isNaming = name === 'user-agent'
    const agent = value.toLowerCase().split('/')[0]!.trim()
    if (isNaming && (agent === userAgent || agent === '*')) named.add(agent)
    if (isNaming) continue
    for (const one of named) {
      const rules = groups.get(one) ?? []
      groups.set(one, rules)
      if (value !== '' && name !== 'crawl-delay') rules.push(`${name}:${value}`)
    }
  }
  return groups.get(userAgent) ?? groups.get('*') ?? []
}
