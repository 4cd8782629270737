/** Texts of bodies, bounded in Unicode code points, as Pydantic counts; zod alone would count UTF-16 units. */
import { z } from 'zod'
import { lengthOf } from './code-points.ts'

export interface TextBounds {
  readonly min?: number
  readonly max: number
  readonly description?: string
}

export function text({ min = 0, max, description }: TextBounds) {
  const schema = z.string().check((context) => {
    const { value: input, issues } = context
    const length = lengthOf(input)
    const about = { origin: 'string', inclusive: true, input } as const
    if (length < min) issues.push({ ...about, code: 'too_small', minimum: min })
    if (length > max) issues.push({ ...about, code: 'too_big', maximum: max })
  })
  return schema.meta({ ...(min > 0 && { minLength: min }), maxLength: max, ...(description && { description }) })
}
