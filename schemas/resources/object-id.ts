/** `object_id`: the id with its type, which integrations store so that one kind isn't taken for another. */
import { z } from 'zod'

export function objectId(type: string) {
  return z
    .string()
    .regex(new RegExp(`^${type}_\\d+$`))
    .meta({ description: `\`${type}_<id>\`` })
}
