/** Templates of captions: texts in which names in braces stand for texts of a feed's entry. */

const feedPlaceholders = ['title', 'link', 'summary', 'author'] as const
export type FeedPlaceholder = (typeof feedPlaceholders)[number]

const named = /\{(\w+)\}/g

/** Why it is no template, in words; undefined where it is one. */
export function templateFault(template: string): string | undefined {
  const names = [...template.matchAll(named)].map(([, name]) => name!)
  const known = feedPlaceholders.map((name) => `{${name}}`).join(', ')
  const unknown = names.find((name) => !isPlaceholder(name))
  if (unknown !== undefined) return `{${unknown}} stands for nothing, only ${known} do`
  return names.length > 0 ? undefined : `The template must have one of ${known}: else all posts would be the same`
}

/** Texts that are put in aren't read again: braces in them stay. */
export function fillTemplate(template: string, texts: Readonly<Record<FeedPlaceholder, string>>): string {
  return template.replace(named, (braced, name: string) => (isPlaceholder(name) ? texts[name] : braced))
}

function isPlaceholder(name: string): name is FeedPlaceholder {
  return (feedPlaceholders as readonly string[]).includes(name)
}
