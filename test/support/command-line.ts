/** Runs a command line of `svc` in this process, with an environment of its own. */
import { runCommandLine } from '../../cli/run.ts'

export interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

export async function runSvc(
  words: readonly string[],
  env: Record<string, string>,
  signal = new AbortController().signal,
): Promise<Said> {
  let out = ''
  let err = ''
  const terminal = {
    out: (text: string) => {
      out += text
    },
    err: (text: string) => {
      err += text
    },
    isInteractive: false,
  }
  const code = await runCommandLine(words, terminal, signal, env)
  return { code, out, err }
}
