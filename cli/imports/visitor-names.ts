/**
 * Names of devices, browsers and systems in Umami (package detect-browser, ua-parser-js) and PostHog (posthog-js,
 * user-agent-utils.ts), as ingest names them. A name that isn't listed stays as it is.
 */
import type { devices } from '../../schemas/event/row.ts'

const nameLengthMax = 64

export function deviceNamed(text: string | undefined): keyof typeof devices | undefined {
  if (text === undefined) return undefined
  const name = text.toLowerCase()
  if (name === 'desktop' || name === 'laptop') return 'desktop'
  return name === 'mobile' || name === 'tablet' ? name : 'other'
}

export function browserNamed(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (browsers.get(text.toLowerCase()) ?? text.slice(0, nameLengthMax))
}

export function systemNamed(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const name = text.toLowerCase()
  // Versions are part of Umami's names: `Windows 10`, `Windows 7`.
  if (name.startsWith('windows') && name !== 'windows phone') return 'Windows'
  return systems.get(name) ?? text.slice(0, nameLengthMax)
}

const browsers = new Map(
  Object.entries({
    Chrome: ['chrome', 'crios', 'chrome ios'],
    'Android WebView': ['chromium-webview'],
    Firefox: ['firefox', 'fxios', 'firefox ios'],
    Safari: ['safari', 'ios', 'mobile safari'],
    'iOS WebView': ['ios-webview'],
    Edge: ['edge', 'edge-chromium', 'edge-ios', 'microsoft edge'],
    'Internet Explorer': ['ie', 'internet explorer', 'internet explorer mobile'],
    Opera: ['opera', 'opera-mini', 'opera mini'],
    'Android Browser': ['android', 'android mobile'],
    'Samsung Internet': ['samsung', 'samsung internet'],
    'Yandex Browser': ['yandexbrowser', 'yandex'],
    'MIUI Browser': ['miui'],
    'Amazon Silk': ['silk'],
    Facebook: ['facebook', 'facebook mobile'],
    Instagram: ['instagram'],
    KakaoTalk: ['kakaotalk'],
    'Meta Quest Browser': ['oculus browser'],
    'Google Search': ['google search app'],
  }).flatMap(([ours, theirs]) => theirs.map((name) => [name, ours] as const)),
)

const systems = new Map([
  ['mac os', 'macOS'],
  ['mac os x', 'macOS'],
  ['android os', 'Android'],
  ['chromeos', 'Chrome OS'],
])
