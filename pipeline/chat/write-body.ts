/**
 * A message as each chat wants it. Rows of lists are texts that anybody sent. They stand in blocks of code, where no chat
 * looks for markup, links or mentions, and can't end these blocks. Teams has none, so there they are runs of text, which know
 * no markup. Pure; test/unit/chat-bodies.test.ts.
 *
 * Formats: Slack "Formatting text for app surfaces", Discord "Execute Webhook", Adaptive Cards 1.4, Google Chat "Format messages".
 */
import type { ChatKind } from '../../schemas/chat-kinds.ts'
import { chatRowLengthMax } from '../../schemas/limits/chat-limits.ts'
import type { Message, Row, Table } from '../reports/message.ts'

/** Makes one character harmless. */
type Mask = (character: string) => string

/** The JSON that the chat takes. @param isCompatible for another server that takes Slack's format, such as Mattermost */
export function bodyOf(kind: ChatKind, message: Message, isCompatible = false): object {
  return kind === 'slack' && isCompatible ? slackBody(message, inCompatibleCode) : writers[kind](message)
}

const writers: Readonly<Record<ChatKind, (message: Message) => object>> = {
  slack: (message) => slackBody(message, inSlack),
  google_chat: (message) => ({ text: sectionsOf(message, inGoogleChat).join('\n') }),
  discord: ({ name, headline, note, tables, dashboardUrl, linkText }) => {
    const link = dashboardUrl === '' ? [] : [`[${linkText}](${dashboardUrl})`]
    const description = [...(note === '' ? [] : [masked(note, inDiscord)]), ...link].join('\n')
    const fields = tables.map((table) => ({ name: table.title, value: blockOf(table, inCode) }))
    return {
      content: `**${masked(`${name}: ${headline}`, inDiscord)}**`,
      embeds: [{ ...(description !== '' && { description }), fields }],
      allowed_mentions: { parse: [] },
    }
  },
  teams: (message) => ({
    type: 'message',
    attachments: [
      { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: cardOf(message) },
    ],
  }),
}

/** `text` is for notifications, and for servers without support for `blocks`. */
function slackBody(message: Message, code: Mask): object {
  const dashboardUrl = message.dashboardUrl.replaceAll('&', '&amp;')
  const sections = sectionsOf({ ...message, dashboardUrl }, inSlack, code)
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })
  return { text: sections.join('\n'), blocks: sections.map(section), unfurl_links: false, unfurl_media: false }
}

const slackEntities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const angleQuotes: Readonly<Record<string, string>> = { '<': '‹', '>': '›' }
/** Ends no block of code. */
const inCode: Mask = (character) => (character === '`' ? 'ˋ' : character)
/** Compatible servers know mentions by an @, and links by brackets. A joiner that nobody sees keeps these from what follows. */
const inSlack: Mask = (character) =>
  /[@\]]/.test(character) ? `${character}\u2060` : (slackEntities[character] ?? inCode(character))
/** In code blocks, Mattermost doesn't decode entities, and turns angle brackets into links. */
const inCompatibleCode: Mask = (character) => angleQuotes[character] ?? (character === '&' ? '&' : inSlack(character))
/** Angle brackets begin links and mentions there, and have no escape. */
const inGoogleChat: Mask = (character) => angleQuotes[character] ?? inCode(character)
const inDiscord: Mask = (character) => (/[\\*_~|>#\-[\]()<:@`]/.test(character) ? `\\${character}` : character)

function masked(text: string, mask: Mask): string {
  return [...text].map(mask).join('')
}

/** Slack and Google Chat know the same stars, blocks and links. */
function sectionsOf(
  { name, headline, note, tables, dashboardUrl, linkText }: Message,
  mask: Mask,
  code: Mask = mask,
): string[] {
  return [
    `*${masked(`${name}: ${headline}`, mask)}*`,
    ...(note === '' ? [] : [masked(note, mask)]),
    ...tables.map((table) => `*${table.title}*\n${blockOf(table, code)}`),
    ...(dashboardUrl === '' ? [] : [`<${dashboardUrl}|${linkText}>`]),
  ]
}

/** Values up to this width are right-aligned. A longer one (amounts in many currencies) would push all others out of sight. */
const valueWidthMax = 20

function blockOf({ rows }: Table, mask: Mask): string {
  const width = Math.max(0, ...rows.map(({ value }) => value.length).filter((length) => length <= valueWidthMax))
  const lines = rows.map(({ label, value, note }) => cut(`${value.padStart(width)}  ${label}${besides(note)}`, mask))
  return `\`\`\`\n${lines.length > 0 ? lines.join('\n') : 'none'}\n\`\`\``
}

function besides(note: string): string {
  return note === '' ? '' : ` (${note})`
}

/** The masked text, cut between characters. */
function cut(text: string, mask: Mask): string {
  let kept = ''
  for (const character of text) {
    const next = kept + mask(character)
    if (next.length > chatRowLengthMax) return `${kept}…`
    kept = next
  }
  return kept
}

function cardOf({ name, headline, note, tables, dashboardUrl, linkText }: Message): object {
  const block = (...inlines: readonly object[]) => ({ type: 'RichTextBlock', inlines })
  const run = (text: string, look: object = {}) => ({ type: 'TextRun', text, ...look })
  const asItIs: Mask = (character) => character
  const rowOf = ({ label, value, note }: Row) =>
    block(
      // Teams on phones doesn't render a card with an empty run.
      ...(value === '' ? [] : [run(value, { weight: 'Bolder' })]),
      run(`  ${cut(label, asItIs)}`),
      ...(note === '' ? [] : [run(cut(besides(note), asItIs), { isSubtle: true })]),
    )
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      block(run(`${name}: ${headline}`, { weight: 'Bolder', size: 'Medium' })),
      ...(note === '' ? [] : [block(run(note, { isSubtle: true }))]),
      ...tables.flatMap(({ title, rows }) => [
        { ...block(run(title, { weight: 'Bolder' })), separator: true },
        ...(rows.length > 0 ? rows.map(rowOf) : [block(run('none'))]),
      ]),
    ],
    ...(dashboardUrl !== '' && { actions: [{ type: 'Action.OpenUrl', title: linkText, url: dashboardUrl }] }),
  }
}
