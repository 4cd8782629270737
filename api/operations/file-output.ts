/** The result of an operation whose output is a file: its transport sends the bytes, or leaves the operation out. */
import type { FileHandle } from 'node:fs/promises'
import { z } from 'zod'

export interface FileContent {
  readonly filename: string
  readonly contentType: string
  readonly bytes: number
  /** Another one for other bytes. */
  readonly tag: string
  open(): Promise<FileHandle>
}

/** The output of such an operation; `contentTypes` are all that it can have. */
export const fileOutput = z.custom<FileContent>()

export const isFileOutput = (output: z.ZodType): boolean => output === fileOutput
