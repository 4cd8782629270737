/** Reads a body of at most so many bytes. Where more come it isn't whole, and its connection ends. */
export async function readAtMost(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    chunks.push(chunk)
    // Leaving the loop ends the connection.
    if (length > bytesMax) break
  }
  return { bytes: Buffer.concat(chunks, Math.min(length, bytesMax)), isWhole: length <= bytesMax }
}
