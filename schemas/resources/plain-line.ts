/** Texts of one line, such as names. */
import { z } from 'zod'
import { isPlainLine } from '../plain-line.ts'

/** @param lengthMax in code points */
export function plainLine(lengthMax: number, text = z.string()) {
  const fault = 'the text must be one line, without control characters and marks that turn its direction'
  return text.max(lengthMax).refine(isPlainLine, fault)
}

/** A name, by which somebody finds something again: without blanks at its ends. @param lengthMax in code points */
export function nameOf(lengthMax: number) {
  return plainLine(lengthMax, z.string().trim().min(1))
}
