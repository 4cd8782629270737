/**
 * The content of a report or an alert, for mail and chats alike. Names of pages and sources, and what platforms say, are
 * text that anybody sent. It is cut here, and loses what could break a line or turn the direction of writing. Whoever
 * writes the message escapes them.
 */
import { reportNameLengthMax } from '../../schemas/limits/report-limits.ts'
import { inWorkspace } from '../../schemas/workspace-address.ts'

export interface Row {
  readonly label: string
  readonly value: string
  /** Beside it, and less important. */
  readonly note: string
}

export interface Table {
  readonly title: string
  readonly rows: readonly Row[]
}

/** Texts are `plain` already. */
export interface Message {
  /** The name of the workspace. */
  readonly name: string
  /** Says what the message is about, after the name. */
  readonly headline: string
  /** Empty: the service has no `API_HOST`. */
  readonly dashboardUrl: string
  /** Names the page behind it. */
  readonly linkText: string
  /** Why an address gets it. */
  readonly reason: string
  readonly tables: readonly Table[]
  /** Above the tables; empty: none. */
  readonly note: string
}

/** The link of messages about figures. */
export const allFigures = 'All figures'

/**
 * One line, without control and invisible characters, cut to the length that a message can show. Joiners stay where a letter,
 * mark or emoji follows: Persian and Indic scripts and many emoji need them.
 */
export function plain(text: string): string {
  const seen = text.replace(unseen, '')
  const line = seen.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]+/gu, ' ').trim()
  const letters = [...line]
  return letters.length > reportNameLengthMax ? `${letters.slice(0, reportNameLengthMax - 1).join('')}…` : line
}

const unseen = /[\u200B\u200E\u200F\u2060-\u2065\uFEFF]|[\u200C\u200D]+(?![\p{L}\p{M}\p{Extended_Pictographic}])/gu

/** @param path begins with a slash */
export function dashboardUrlOf(apiHost: string, workspace: { readonly id: number }, path: string): string {
  return apiHost === '' ? '' : `${apiHost}${inWorkspace(path, workspace.id)}`
}
