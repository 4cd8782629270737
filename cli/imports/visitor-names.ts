/**
 * Names of devices, browsers and systems in Umami (package detect-browser, ua-parser-js), PostHog (posthog-js, user-agent-utils.ts), Matomo
 * (its device-detector), Plausible and Google Analytics, as ingest names them. A name that isn't
 * listed stays as it is.
 */
import type { devices } from '../../schemas/event/row.ts'

export const visitorNameLengthMax = 64

export function deviceNamed(text: string | undefined): keyof typeof devices | undefined {
  if (text === undefined) return undefined
  const name = text.toLowerCase()
  if (name === 'desktop' || name === 'laptop') return 'desktop'
  if (phones.has(name)) return 'mobile'
  return name === 'tablet' ? 'tablet' : 'other'
}
const phones = new Set(['mobile', 'smartphone', 'phablet', 'feature phone'])

export function browserNamed(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (browsers.get(text.toLowerCase()) ?? text.slice(0, visitorNameLengthMax))
}

export function systemNamed(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const name = text.toLowerCase()
  // Versions are part of Umami's names: `Windows 10`, `Windows 7`.
  if (name.startsWith('windows') && name !== 'windows phone') return 'Windows'
  return systems.get(name) ?? text.slice(0, visitorNameLengthMax)
}

const browsers = new Map(
  Object.entries({
    Chrome: ['chrome', 'crios', 'chrome ios', 'chrome mobile', 'chrome mobile ios'],
    'Android WebView': ['chromium-webview', 'chrome webview', 'android webview'],
    Firefox: ['firefox', 'fxios', 'firefox ios', 'firefox mobile', 'firefox mobile ios'],
    Safari: ['safari', 'ios', 'mobile safari'],
    'iOS WebView': ['ios-webview', 'safari (in-app)'],
    Edge: ['edge', 'edge-chromium', 'edge-ios', 'microsoft edge', 'edge mobile'],
    'Internet Explorer': ['ie', 'internet explorer', 'internet explorer mobile'],
    Opera: ['opera', 'opera-mini', 'opera mini', 'opera mobile'],
    'Android Browser': ['android', 'android mobile', 'android browser'],
    'Samsung Internet': ['samsung', 'samsung internet', 'samsung browser'],
    'Yandex Browser': ['yandexbrowser', 'yandex'],
    'MIUI Browser': ['miui', 'mi browser'],
    'Amazon Silk': ['silk'],
    Facebook: ['facebook', 'facebook mobile'],
    Instagram: ['instagram'],
    KakaoTalk: ['kakaotalk'],
    'Meta Quest Browser': ['oculus browser'],
    'Google Search': ['google search app'],
  }).flatMap(([ours, theirs]) => theirs.map((name) => [name, ours] as const)),
)

const systems = new Map([
  ['mac', 'macOS'],
  ['macos', 'macOS'],
  ['macintosh', 'macOS'],
  ['mac os', 'macOS'],
  ['mac os x', 'macOS'],
  ['android os', 'Android'],
  ['gnu/linux', 'Linux'],
  ['ubuntu', 'Linux'],
  ['ipados', 'iOS'],
  ['chromeos', 'Chrome OS'],
])
