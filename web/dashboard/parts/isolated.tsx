const direction = /[\u202A-\u202E\u2066-\u2069]/

/** A sentence with stored names in it: a mark that turns the direction of writing turns its own word alone. */
export function Isolated({ text }: { text: string }) {
  if (!direction.test(text)) return <>{text}</>
  return <>{text.split(/(\s+)/).map((word) => (direction.test(word) ? <bdi>{word}</bdi> : word))}</>
}
