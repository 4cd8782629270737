/** Files in the OpenAPI document: forms that bring them, and answers that are their bytes. */

/** As for any binary string. The answer's Content-Type says which bytes they are. */
const bytes = { type: 'string', contentMediaType: 'application/octet-stream' }

/** Describes schemas that zod can't convert. Only files are such. */
export function showFile({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: Record<string, unknown> }): void {
  const { def } = (zodSchema as { _zod: { def: { type: string } } })._zod
  if (def.type === 'custom') Object.assign(jsonSchema, bytes)
}

const content = { 'image/*': { schema: bytes }, 'video/*': { schema: bytes } }
const text = { type: 'string' }
const etag = { ETag: { description: 'Another one for other bytes.', required: true, schema: text } }
const contentRange = {
  'Content-Range': { description: 'Which of all bytes these are.', required: true, schema: text },
}

/** Conditional and range headers of a file (RFC 9110). */
export const fileParameters = [
  headerParameter(
    'Range',
    'One range of the bytes: `bytes=0-1023`, `bytes=1024-`, `bytes=-500`. Of several, all are sent.',
  ),
  headerParameter(
    'If-None-Match',
    'An `ETag` that is known: where it is still that of the bytes, they are not sent again.',
  ),
  headerParameter(
    'If-Range',
    'An `ETag`: where it is not that of the bytes any more, all are sent, whatever the range.',
  ),
]

function headerParameter(name: string, description: string) {
  return { name, in: 'header', required: false, description, schema: text }
}

/** @param headers those of any answer */
export function fileResponses(headers: Record<string, unknown>): Record<number, unknown> {
  return {
    200: { description: 'The bytes of the file', headers: { ...headers, ...etag }, content },
    206: {
      description: 'The bytes that `Range` asks for: one range of them',
      headers: { ...headers, ...etag, ...contentRange },
      content,
    },
    304: { description: 'The bytes are those that `If-None-Match` names', headers: { ...headers, ...etag } },
  }
}
