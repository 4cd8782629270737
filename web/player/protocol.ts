/** Messages between the dashboard and the player's document. Times are milliseconds from the recording's begin. */
import type { RecordedEvent } from './harmless.ts'

export type Command =
  | { readonly type: 'load'; readonly events: readonly RecordedEvent[] }
  | { readonly type: 'play' | 'pause'; readonly at: number }
  | { readonly type: 'set'; readonly speed: number; readonly skipsInactive: boolean }
  /** Shows the page from there on, in pixels of the page. */
  | { readonly type: 'scroll'; readonly top: number }

/** The dashboard takes nothing of it but numbers and texts: the player shares its document with a recording. */
export type PlayerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'loaded'; readonly durationMs: number }
  | { readonly type: 'failed'; readonly text: string }
  /** A part of what was recorded can't be shown. */
  | { readonly type: 'lacks' }
  | { readonly type: 'size'; readonly width: number; readonly height: number }
  /** How high the whole page is, whenever that has changed. */
  | { readonly type: 'page'; readonly height: number }
  /** With the pointer's place in the recorded page; NaN where it wasn't seen yet. */
  | { readonly type: 'at'; readonly at: number; readonly x: number; readonly y: number }
  | { readonly type: 'playing'; readonly isPlaying: boolean }
