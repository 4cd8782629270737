/**
 * Marks in user agents that the parser of browsers doesn't know: apps that show pages themselves, and devices that are
 * neither computers nor phones. A maintained list; the first that fits counts. Held by
 * test/unit/user-agent-cases.test.ts.
 */
type Mark = readonly [pattern: RegExp, name: string]

/** Browsers and apps by a word that only they have; those that hold another's word, too, come first. */
export const browserMarks: readonly Mark[] = [
  [/\bFBAN\/Messenger|FB_IAB\/(?:Orca|MESSENGER)/, 'Messenger'],
  [/\bInstagram \d/, 'Instagram'],
  [/\bBarcelona \d/, 'Threads'],
  [/\bFB(?:AN|AV|_IAB)\//, 'Facebook'],
  [/\bmusical_ly|\btrill_|\bBytedanceWebview\//, 'TikTok'],
  [/\bSnapchat\//, 'Snapchat'],
  [/\[Pinterest\//, 'Pinterest'],
  [/\[LinkedInApp\]/, 'LinkedIn'],
  [/\bTwitter for |\bTwitterAndroid\b/, 'X'],
  [/\bReddit\//, 'Reddit'],
  [/\bMicroMessenger\//, 'WeChat'],
  [/\bLine\/\d/, 'Line'],
  [/\bKAKAOTALK\b/, 'KakaoTalk'],
  [/\bNAVER\(inapp/, 'NAVER'],
  [/\bTelegram-Android\//, 'Telegram'],
  [/\bYJApp-/, 'Yahoo! JAPAN'],
  [/\bBingSapphire\//, 'Bing'],
  [/\bGSA\/\d/, 'Google Search'],
  [/\b(?:DuckDuckGo|Ddg)\/\d/, 'DuckDuckGo'],
  [/\bHuaweiBrowser\//, 'Huawei Browser'],
  [/\bMiuiBrowser\//, 'MIUI Browser'],
  [/\bOP[TX]\/\d/, 'Opera'],
  [/\bOculusBrowser\//, 'Meta Quest Browser'],
  [/\bPlayStation\b/, 'PlayStation Browser'],
  [/\bNintendo\b/, 'Nintendo Browser'],
]

export const systemMarks: readonly Mark[] = [
  [/\bXbox\b/, 'Xbox'],
  [/\bPlayStation 5\b/, 'PlayStation 5'],
  [/\bPlayStation 4\b/, 'PlayStation 4'],
  [/\bPlayStation Vita\b/, 'PlayStation Vita'],
  [/\bNintendo Switch\b/, 'Nintendo Switch'],
  [/\bNintendo 3DS\b/, 'Nintendo 3DS'],
  [/\bNintendo WiiU\b/, 'Wii U'],
  [/\bKAIOS\//, 'KaiOS'],
  [/\bFreeBSD\b/, 'FreeBSD'],
  [/\bOpenBSD\b/, 'OpenBSD'],
  [/\bNetBSD\b/, 'NetBSD'],
]

/** Televisions and devices that are plugged into them, consoles, cars, headsets. */
export const otherDevices =
  /\bSMART-?TV\b|\bHbbTV\b|\bNetCast\b|\bAndroidTV\b|\bGoogleTV\b|\bChromecast\b|\bApple ?TV\b|\bBRAVIA\b|\bCrKey\/|\bTV\b|; AFT\w+\b|\bPlayStation\b|\bXbox\b|\bNintendo\b|\bTesla\/|\bOculusBrowser\//i

/** The parser takes `yahoo` for a crawler and `huawei` for a phone. Both companies have apps and browsers for any device. */
export const companyNames = /yahoo|huawei/gi

/** The runtime of Android apps, which is no browser. */
export const androidApps = /^Dalvik\//

export function markIn(marks: readonly Mark[], text: string): string | undefined {
  return marks.find(([pattern]) => pattern.test(text))?.[1]
}
