/** Chats that take messages at the address of an incoming webhook, and how such an address tells which one it is. */

export const chatKinds = ['slack', 'discord', 'teams', 'google_chat'] as const
export type ChatKind = (typeof chatKinds)[number]

interface Chat {
  readonly kind: ChatKind
  readonly name: string
  readonly hosts: RegExp
  /** Webhooks that take messages have these; other addresses of the hosts take something else. */
  readonly paths: RegExp
}

const chats: readonly Chat[] = [
  { kind: 'slack', name: 'Slack', hosts: /^hooks\.slack(-gov)?\.com$/, paths: /^\/services\/./ },
  {
    kind: 'discord',
    name: 'Discord',
    hosts: /^((ptb|canary)\.)?discord(app)?\.com$/,
    paths: /^\/api(?:\/v\d+)?\/webhooks\/(?<id>\d+)\/(?<token>[\w-]+)$/,
  },
  {
    kind: 'teams',
    name: 'Microsoft Teams',
    paths: /^\/./,
    // Connectors of old, and workflows under both of their addresses.
    hosts: /\.(webhook\.office\.com|logic\.azure\.com|environment\.api\.powerplatform\.com)$/,
  },
  {
    kind: 'google_chat',
    name: 'Google Chat',
    hosts: /^chat\.googleapis\.com$/,
    paths: /^\/v1\/spaces\/[^/]+\/messages$/,
  },
]

/**
 * @returns undefined where the host is none of theirs: a server of somebody's own may be compatible with Slack.
 *   `isWebhook`: messages are taken there
 */
export function chatOf({
  hostname,
  pathname,
}: URL): (Pick<Chat, 'kind' | 'name'> & { isWebhook: boolean }) | undefined {
  const chat = chats.find(({ hosts }) => hosts.test(hostname))
  return chat && { kind: chat.kind, name: chat.name, isWebhook: chat.paths.test(pathname) }
}

/** The id and the token in the address of an incoming webhook of Discord; undefined where it is none. */
export function discordWebhookIn(address: URL): { id: string; token: string } | undefined {
  const chat = chats.find(({ kind }) => kind === 'discord')!
  if (chatOf(address)?.kind !== chat.kind || address.protocol !== 'https:' || address.port !== '') return undefined
  const { id, token } = chat.paths.exec(address.pathname)?.groups ?? {}
  return id === undefined || token === undefined ? undefined : { id, token }
}
