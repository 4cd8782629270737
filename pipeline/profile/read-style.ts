/** Colours and fonts that CSS names. */
import { pageTextsMax, profileUrlLengthMax } from '../../schemas/limits/profile-limits.ts'

export interface Looks {
  /** Where it is said. */
  readonly url: string
  /** As often as they are written. */
  readonly colors: ReadonlyMap<string, number>
  readonly fonts: ReadonlyMap<string, number>
}

export function readStyleSheet(url: string, css: string): Looks {
  const [colors, fonts] = [new Map<string, number>(), new Map<string, number>()]
  readStyle(css, colors, fonts)
  return { url, colors, fonts }
}

/** @param colors, fonts are added to */
export function readStyle(css: string, colors: Map<string, number>, fonts: Map<string, number>): void {
  for (const [color] of css.matchAll(/#(?:[\da-f]{6}|[\da-f]{3})\b/gi)) count(colors, sixDigits(color.toLowerCase()))
  for (const [, families] of css.matchAll(/font-family\s*:\s*([^;}{]{1,200})/gi)) {
    const family = families!
      .split(',')[0]!
      .trim()
      .replace(/^["']|["']$/g, '')
    if (/^[\p{L}\d][\p{L}\d _-]*$/u.test(family) && !genericFonts.has(family.toLowerCase())) count(fonts, family)
  }
}

/** Words of CSS itself, and what some sites write for `system-ui`. */
const genericFonts = new Set([
  'inherit',
  'initial',
  'unset',
  'revert',
  'revert-layer',
  'serif',
  'sans-serif',
  'monospace',
  'cursive',
  'fantasy',
  'math',
  'system-ui',
  'ui-serif',
  'ui-sans-serif',
  'ui-monospace',
  'ui-rounded',
  'blinkmacsystemfont',
])

export function sixDigits(color: string): string {
  return color.length === 7 ? color : `#${[...color.slice(1)].map((digit) => digit + digit).join('')}`
}

/** Longer ones are no names of fonts. */
const fontNameLengthMax = 100

/**
 * Reads the families from the URL of a Google Fonts style sheet: `?family=A:400&family=B`, or the older form
 * `?family=A:400|B`. Both may be escaped. @param fonts gets the families
 */
export function readFontAddress(href: string, fonts: Map<string, number>): void {
  if (href.length > profileUrlLengthMax) return
  const families = new URLSearchParams(/\?([^#]*)/.exec(href)?.[1]).getAll('family')
  for (const family of families.flatMap((some) => some.split('|'))) {
    const name = family.split(':')[0]!.trim().slice(0, fontNameLengthMax)
    if (name !== '') count(fonts, name)
  }
}

function count(counts: Map<string, number>, key: string): void {
  if (counts.has(key) || counts.size < pageTextsMax) counts.set(key, (counts.get(key) ?? 0) + 1)
}
