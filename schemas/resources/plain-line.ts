/** Texts of one line, such as names. */
import { z } from 'zod'
import { isPlainLine } from '../plain-line.ts'

/** @param lengthMax in code points */
export function plainLine(lengthMax: number) {
  const fault = 'the text must be one line, without control characters and marks that turn its direction'
  return z.string().max(lengthMax).refine(isPlainLine, fault)
}

/** A name, by which somebody finds something again. @param lengthMax in code points */
export function nameOf(lengthMax: number) {
  return plainLine(lengthMax)
    .min(1)
    .refine((text) => text.trim() !== '', 'the text must not be blank')
}
