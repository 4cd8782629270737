/** Runs one command line: finds the command, parses, opens the stores, prints, and answers with the exit code. */
import { readFileSync } from 'node:fs'
import { childEnvironment, SettingError, surveyConfig } from '../runtime/config.ts'
import { projectFile } from '../runtime/paths.ts'
import { StoreUnavailable } from '../runtime/store-error.ts'
import { didYouMean } from './closest.ts'
import { type Command, CommandFailed, helpOf, OutputClosed, type Progress, parseWords, UsageError } from './command.ts'
import { commands } from './commands.ts'
import { openInstallation } from './installation.ts'
import { shownText } from './shown-text.ts'

export interface Terminal {
  /** A promise resolves once the text is taken. */
  out(text: string): void | Promise<void>
  err(text: string): void
  /** Whether standard error is a terminal, on which a running line can be replaced. */
  readonly isInteractive: boolean
}

/** As a shell says it of a program that a closed pipe ended (128 and SIGPIPE). */
const outputClosed = 141

type ExitCode = 0 | 1 | 2 | typeof outputClosed

/** How often a running line is written where it can't be replaced. */
const runningLineEveryMs = 5_000

/**
 * @param environment in place of the process's own, for tests
 * @param clickhouseHelloMs in place of the usual deadline, for tests
 * @returns 0 done, 1 couldn't be done, 2 not understood, 141 nobody reads what it prints
 */
export async function runCommandLine(
  typed: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
  environment?: Record<string, string | undefined>,
  clickhouseHelloMs?: number,
): Promise<ExitCode> {
  const words = withHelp(typed)
  const command = findCommand(words)
  try {
    if (command === undefined) return await showOverview(words, terminal)
    const { options, ...given } = parseWords(command, withoutName(command, words))
    if (options.flag('help')) {
      await terminal.out(`${helpOf(command)}\n`)
      return 0
    }
    const variables = environment ?? childEnvironment()
    const { config, wrong } = surveyConfig(variables)
    const [firstWrong] = wrong.values()
    if (firstWrong !== undefined && !command.takesWrongSettings) throw firstWrong
    const installation = openInstallation(config, clickhouseHelloMs)
    const progress = makeProgress(terminal)
    try {
      const print = async (text: string) => terminal.out(text)
      const invocation = { options, ...given, installation, environment: { variables, wrong }, print, progress, signal }
      const result = await command.run(invocation)
      progress.end()
      const shown = `${shownText(options.flag('json') ? JSON.stringify(result) : command.show(result))}\n`
      if (command.printsItself?.(options)) terminal.err(shown)
      else await terminal.out(shown)
      return command.exitCode?.(result) ?? 0
    } finally {
      progress.end()
      await installation.close()
    }
  } catch (error) {
    return report(error, command, terminal)
  }
}

/** `svc help keys create` and `-h` are `--help`, as with other programs. */
function withHelp(words: readonly string[]): readonly string[] {
  const asked = words[0] === 'help' ? [...words.slice(1), '--help'] : words
  return asked.map((word) => (word === '-h' ? '--help' : word))
}

/** The command whose name the words begin with, flags before or within it aside; the longest name wins. */
function findCommand(words: readonly string[]): Command | undefined {
  const said = words.filter(isNoOption)
  const matching = commands.filter(({ name }) => name.split(' ').every((word, at) => said[at] === word))
  return matching.sort((a, b) => b.name.length - a.name.length)[0]
}

function withoutName({ name }: Command, words: readonly string[]): string[] {
  let nameWordsLeft = name.split(' ').length
  return words.filter((word) => !(isNoOption(word) && nameWordsLeft-- > 0))
}

function isNoOption(word: string): boolean {
  return !word.startsWith('--')
}

/**
 * Answers words that name no command: `svc`, `svc --help`, `svc --version`, `svc keys`, `svc keys --help`, and
 * mistakes.
 */
async function showOverview(words: readonly string[], terminal: Terminal): Promise<0 | 2> {
  const said = words.filter(isNoOption)
  const flags = words.filter((word) => !isNoOption(word))
  if (said.length === 0 && flags.includes('--version')) {
    await terminal.out(`svc ${version()}\n`)
    return 0
  }
  const group = commands.filter(({ name }) => name.startsWith(`${said[0]} `))
  const complaint = complaintOf(said, flags, group)
  // `svc import FILE`, the verb alone, shows what can be imported.
  const ofVerb = commands.filter(({ name }) => said[0] !== undefined && name.split(' ')[1] === said[0])
  const listed = [group, ofVerb].find((some) => some.length > 0) ?? commands
  const text = overviewOf(group.length > 0 ? (said[0] as string) : undefined, listed)
  if (complaint === '' && flags.includes('--help')) {
    await terminal.out(`${text}\n`)
    return 0
  }
  terminal.err(`${complaint}${text}\n`)
  return 2
}

function overviewOf(group: string | undefined, listed: readonly Command[]): string {
  const width = Math.max(...listed.map(({ name }) => name.length))
  const usage = group === undefined ? 'svc COMMAND' : `svc ${group} VERB`
  return [
    `${usage} [options]`,
    '',
    ...listed.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    `\`${usage} --help\` shows the options of one.`,
  ].join('\n')
}

/** Empty where nothing is wrong but that no command is named. */
function complaintOf(said: readonly string[], flags: readonly string[], group: readonly Command[]): string {
  const [flag] = flags.filter((name) => name !== '--help')
  if (said.length === 0 && flag !== undefined) {
    return `svc: unknown option \`${flag}\`${didYouMean(flag, ['--help', '--version'])}\n\n`
  }
  if (said.length === 0 || (group.length > 0 && said.length === 1)) return ''
  const names = commands.flatMap(({ name }) => [name, name.split(' ')[0]!])
  const typed = said.slice(0, 2).join(' ')
  return `svc: there is no command \`${typed}\`${didYouMean(typed, names)}\n\n`
}

function version(): string {
  return (JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as { version: string }).version
}

function report(error: unknown, command: Command | undefined, terminal: Terminal): ExitCode {
  if (error instanceof OutputClosed) return outputClosed
  const name = command === undefined ? 'svc' : `svc ${command.name}`
  const say = (text: string) => terminal.err(`${name}: ${shownText(text)}\n`)
  if (error instanceof UsageError) {
    say(`${error.message} (\`${name} --help\` shows the options)`)
    return 2
  }
  if (error instanceof SettingError) {
    say(error.message)
    return 2
  }
  if (error instanceof StoreUnavailable) say(`can't be done now, a store is unavailable: ${error.message}`)
  else if (error instanceof CommandFailed) say(error.message)
  else if (error instanceof Error && error.name === 'AbortError') say('interrupted')
  else say(`failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  return 1
}

function makeProgress(terminal: Terminal): Progress & { end(): void } {
  let isOpen = false
  let lastAt = Number.NEGATIVE_INFINITY
  let last = ''
  const end = () => {
    if (isOpen) terminal.err('\n')
    isOpen = false
  }
  return {
    line: (text) => {
      end()
      terminal.err(`${shownText(text)}\n`)
    },
    running: (text) => {
      if (terminal.isInteractive) {
        terminal.err(`\r\x1b[K${shownText(text)}`)
        isOpen = true
      } else if (performance.now() - lastAt >= runningLineEveryMs) {
        terminal.err(`${shownText(text)}\n`)
        lastAt = performance.now()
        last = text
      }
    },
    ended: (text) => {
      if (terminal.isInteractive) terminal.err(`\r\x1b[K${text}\n`)
      else if (text !== last) terminal.err(`${text}\n`)
      isOpen = false
    },
    end,
  }
}
