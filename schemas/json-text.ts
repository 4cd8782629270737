/**
 * Finds the texts of a JSON value that can't be stored: those with NUL or a lone surrogate, which only escapes can
 * bring in. Keys count as well as values.
 */
import { type Loc, nulCharacter, stringUnicode, type ValidationError } from './errors/validation-errors.ts'

/** The answer names the first ones only: it isn't larger than the request. */
const errorsMax = 20

interface Level {
  readonly container: Record<string, unknown> | unknown[]
  readonly keys: readonly string[] | undefined
  next: number
}

/** The error of a text that can't be stored; undefined where it can. */
export function textFault(text: string): typeof nulCharacter | undefined {
  if (!text.isWellFormed()) return stringUnicode
  return text.includes('\0') ? nulCharacter : undefined
}

/** The text as it can be stored, for texts of others that aren't refused. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}

/** Walks the value, which stands at `loc`, without recursion, in the order of the text. */
export function findUnstorableText(loc: Loc, value: unknown): ValidationError[] {
  const errors: ValidationError[] = []
  const levels: Level[] = []
  const checkText = (text: string) => {
    const fault = textFault(text)
    if (fault !== undefined) errors.push(fault([...loc, ...pathOf(levels)], text))
  }
  const visit = (value: unknown) => {
    if (typeof value === 'string') checkText(value)
    else if (Array.isArray(value)) levels.push({ container: value, keys: undefined, next: 0 })
    else if (typeof value === 'object' && value !== null) {
      levels.push({ container: value as Record<string, unknown>, keys: Object.keys(value), next: 0 })
    }
  }
  visit(value)
  while (levels.length > 0 && errors.length < errorsMax) {
    const level = levels.at(-1)!
    const { container, keys } = level
    const at = level.next++
    if (Array.isArray(container)) {
      if (at < container.length) visit(container[at])
      else levels.pop()
    } else {
      const key = keys![at]
      if (key === undefined) {
        levels.pop()
        continue
      }
      checkText(key)
      visit(container[key])
    }
  }
  return errors
}

/** The path to where each level stands now: `next` is one ahead. */
function pathOf(levels: readonly Level[]): Loc {
  return levels.map(({ keys, next }) => (keys === undefined ? next - 1 : keys[next - 1]!.toWellFormed()))
}
