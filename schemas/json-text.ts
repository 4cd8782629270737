/**
 * Finds the texts of a JSON value that can't be stored: those with NUL or a lone surrogate, which only escapes can
 * bring in. Keys count as well as values.
 */
import { nulCharacter, stringUnicode, type ValidationError } from './errors/validation-errors.ts'

/** A body full of them is told of the first ones only: an answer isn't larger than what was asked. */
const errorsMax = 20

interface Level {
  readonly container: Record<string, unknown> | unknown[]
  readonly keys: readonly string[] | undefined
  next: number
}

/** Walks the value without recursion, in the order of the text. */
export function findUnstorableText(value: unknown): ValidationError[] {
  const errors: ValidationError[] = []
  const levels: Level[] = []
  visit(value, levels, errors)
  while (levels.length > 0 && errors.length < errorsMax) {
    const level = levels.at(-1)!
    const { container, keys } = level
    const at = level.next++
    if (Array.isArray(container)) {
      if (at < container.length) visit(container[at], levels, errors)
      else levels.pop()
    } else {
      const key = keys![at]
      if (key === undefined) {
        levels.pop()
        continue
      }
      checkText(key, levels, errors)
      visit(container[key], levels, errors)
    }
  }
  return errors
}

function visit(value: unknown, levels: Level[], errors: ValidationError[]): void {
  if (typeof value === 'string') checkText(value, levels, errors)
  else if (Array.isArray(value)) levels.push({ container: value, keys: undefined, next: 0 })
  else if (typeof value === 'object' && value !== null) {
    levels.push({ container: value as Record<string, unknown>, keys: Object.keys(value), next: 0 })
  }
}

function checkText(text: string, levels: readonly Level[], errors: ValidationError[]): void {
  if (!text.isWellFormed()) errors.push(stringUnicode(locOf(levels), text))
  else if (text.includes('\0')) errors.push(nulCharacter(locOf(levels), text))
}

/** The path to where each level stands now: `next` is one ahead. */
function locOf(levels: readonly Level[]): (string | number)[] {
  const loc: (string | number)[] = ['body']
  for (const { keys, next } of levels) loc.push(keys === undefined ? next - 1 : keys[next - 1]!.toWellFormed())
  return loc
}
