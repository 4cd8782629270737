/** Parses user agents, with a cache. */
import Bowser from 'bowser'
import { LRUCache } from 'lru-cache'
import { devices } from '../../schemas/event/row.ts'
import { userAgentLengthMax } from '../../schemas/limits/event-limits.ts'
import { agentCacheMax } from '../../schemas/limits/ingest-limits.ts'
import {
  androidApps,
  browserMarks,
  companyNames,
  markIn,
  otherDevices,
  systemMarks,
} from '../../schemas/reference/agent-marks.ts'
import { isBotAgent, programOf } from '../../schemas/reference/bots.ts'
import type { Bot } from '../../schemas/reference/known-bots.ts'

export interface Agent {
  /** As it was sent, cut to the stored length of a bot's. */
  readonly text: string
  /** Null for people and for HTTP libraries. */
  readonly bot: Bot | null
  /** A bot or an HTTP library, with which nobody reads pages. Null for browsers. */
  readonly program: Bot | null
  /** One of `devices`. */
  readonly device: number
  /** Empty when unknown. */
  readonly browser: string
  readonly os: string
}

/** Stands for a request without a user agent. */
export const noAgent: Agent = {
  text: '',
  bot: null,
  program: programOf(''),
  device: devices.unknown,
  browser: '',
  os: '',
}

export function makeUserAgents(): (text: string) => Agent {
  const known = new LRUCache<string, Agent>({ max: agentCacheMax })
  let last = noAgent
  return (text) => {
    if (text === '') return noAgent
    // The events of a batch have one, and hashing a text for the look-up costs more than comparing it.
    if (text === last.text) return last
    let agent = known.get(text)
    if (agent === undefined) {
      agent = describe(text.length > userAgentLengthMax ? text.slice(0, userAgentLengthMax) : text)
      if (text.length <= userAgentLengthMax) known.set(text, agent)
    }
    last = agent
    return agent
  }
}

function describe(text: string): Agent {
  const program = programOf(text)
  if (isBotAgent(text)) return { text, bot: program, program, device: devices.unknown, browser: '', os: '' }
  const { browser, os, platform } = Bowser.parse(text.replace(companyNames, '_'))
  const system = markIn(systemMarks, text) ?? os.name ?? ''
  return {
    text,
    bot: null,
    program,
    device: deviceOf(text, platform.type, system),
    browser: browserOf(text, browser.name ?? '', system),
    os: system,
  }
}

function deviceOf(text: string, type: string | undefined, system: string): number {
  if (otherDevices.test(text)) return devices.other
  // An app's runtime says no more of its device.
  if (androidApps.test(text)) return devices.mobile
  if (type === 'desktop' || type === 'mobile' || type === 'tablet') return devices[type]
  return type === undefined && desktopSystems.has(system) ? devices.desktop : devices.other
}

function browserOf(text: string, name: string, system: string): string {
  const marked = markIn(browserMarks, text)
  if (marked !== undefined) return marked
  if (androidApps.test(text)) return ''
  if (name === 'Chrome' && text.includes('; wv)')) return 'Android WebView'
  if (name === 'Safari' && system === 'iOS' && !text.includes('Safari/')) return 'iOS WebView'
  // bowser takes the first word of a program's user agent for a browser.
  return browsers.has(name) ? (shortNames.get(name) ?? name) : ''
}

/** User agents of HarmonyOS phones and tablets name the type of device, so those without one are computers. */
const desktopSystems = new Set(['Windows', 'macOS', 'Linux', 'Chrome OS', 'HarmonyOS', 'FreeBSD', 'OpenBSD', 'NetBSD'])
const browsers = new Set<string>(Object.values(Bowser.BROWSER_MAP))
const shortNames: ReadonlyMap<string, string> = new Map([
  ['Microsoft Edge', 'Edge'],
  ['Samsung Internet for Android', 'Samsung Internet'],
  ['NAVER Whale Browser', 'Whale'],
])
