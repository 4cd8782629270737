/** The groups of the OpenAPI document, in the order in which it shows them. Every operation's `tag` is one of them. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  Workspace: 'The workspace that the key belongs to.',
  'Social accounts': 'The accounts that posts are published to.',
  Media: 'Images and videos that posts show.',
  Posts: 'Posts, from their draft to what was published.',
  Links: 'Links that tell who came by which post.',
  Analytics: 'Figures of the tracked sites.',
  People: 'Who visited, as far as they are known.',
  Replays: 'Sessions as their visitors saw them.',
  'Company profile': 'What the service has learnt of the company.',
  Audit: 'What was changed, and by whom.',
  Webhooks: 'Endpoints that get changes, and what was delivered to them.',
}

/** The tags that are used, described. */
export function tagsOf(used: readonly string[]): { name: string; description?: string }[] {
  const known = Object.entries(tagDescriptions).filter(([name]) => used.includes(name))
  const others = [...new Set(used)].filter((name) => !Object.hasOwn(tagDescriptions, name))
  return [...known.map(([name, description]) => ({ name, description })), ...others.map((name) => ({ name }))]
}
