/** Definition of a command, and parsing of its arguments. One table of options gives parsing, help and errors. */
import { parseArgs } from 'node:util'
import type { SettingError } from '../runtime/config.ts'
import { emailOf } from '../schemas/event/identifiers.ts'
import { identifierLengthMax } from '../schemas/limits/event-limits.ts'
import { isPlainLine } from '../schemas/plain-line.ts'
import { parseDateTime } from '../schemas/time/date-time.ts'
import { timeZoneNamed } from '../schemas/time/time-zone-name.ts'
import { didYouMean } from './closest.ts'
import type { Installation } from './installation.ts'

/** The person typed something that can't be meant: one line that names it, exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The command was understood and couldn't be done: one line, exit code 1. */
export class CommandFailed extends Error {
  override name = 'CommandFailed'
}

/** Whoever read standard output has enough, as in `svc … | head`: the command ends without a word. */
export class OutputClosed extends Error {
  override name = 'OutputClosed'
}

export interface Option {
  /** Placeholder of the value in the help; without it the option is a flag. */
  readonly value?: string
  readonly meaning: string
  readonly isRequired?: boolean
  /** It may be given several times. */
  readonly isRepeatable?: boolean
}

export interface Invocation {
  readonly options: OptionValues
  /** The argument of a command that takes one, and those behind it of a command that takes several. */
  readonly argument: string
  readonly moreArguments: readonly string[]
  readonly installation: Installation
  readonly environment: Environment
  /** Writes to standard output, and waits until it is taken: for what no result can hold. See `printsItself`. */
  readonly print: (text: string) => Promise<void>
  /** One line, or a running one, for the person: on standard error. */
  readonly progress: Progress
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal
}

/** Variables that the settings were read from. */
export interface Environment {
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Settings that can't be used, by name; only a command with `takesWrongSettings` sees any. */
  readonly wrong: ReadonlyMap<string, SettingError>
}

export interface Progress {
  line(text: string): void
  /** Replaces the last running line on a terminal; elsewhere it is written now and then. */
  running(text: string): void
  /** The last of the running lines, which is written everywhere. */
  ended(text: string): void
}

export interface Command<Result = unknown> {
  /** `keys create`. */
  readonly name: string
  readonly summary: string
  /** The positional argument, as the help names it; there may be several of one that ends with `…`. */
  readonly argument?: string
  readonly options: Readonly<Record<string, Option>>
  /** It goes on with what is wrong in the environment, to tell of it. Any other command ends there. */
  readonly takesWrongSettings?: boolean
  /** Standard output is for what it prints: its result goes to standard error. */
  printsItself?(options: OptionValues): boolean
  run(invocation: Invocation): Promise<Result>
  /** The result for a person; `--json` prints it as it is. */
  show(result: Result): string
  /** 0 without it. */
  exitCode?(result: Result): 0 | 1
}

/** Keeps the type of the result between `run` and `show`. */
export function defineCommand<Result>(command: Command<Result>): Command {
  return command as Command
}

/** Most commands have it; `Installation.workspace` finds the workspace. */
export const workspaceOption = { value: 'ID', meaning: 'The workspace; without it the only or first one.' }

const everywhere: Readonly<Record<string, Option>> = {
  json: { meaning: 'Print one JSON object or array on standard output.' },
  help: { meaning: 'Show this help.' },
}

export interface Parsed {
  readonly options: OptionValues
  readonly argument: string
  readonly moreArguments: readonly string[]
}

/**
 * Reads the words after the command's name.
 * @throws UsageError naming the option that is unknown, missing or without its value
 */
export function parseWords(command: Command, words: string[]): Parsed {
  const options = { ...command.options, ...everywhere }
  const { values, positionals } = parseStrictly(words, options)
  const parsed = new OptionValues(values)
  if (parsed.flag('help')) return { options: parsed, argument: '', moreArguments: [] }
  const [argument, ...more] = positionals
  if (command.argument === undefined && argument !== undefined) throw new UsageError(`unexpected \`${argument}\``)
  if (command.argument !== undefined && !argument) throw new UsageError(`${command.argument} is required`)
  if (more.length > 0 && !command.argument?.endsWith('…')) throw new UsageError(`unexpected \`${more[0]}\``)
  for (const [name, { isRequired }] of Object.entries(options)) {
    if (isRequired && values[name] === undefined) throw new UsageError(`--${name} is required`)
  }
  return { options: parsed, argument: argument ?? '', moreArguments: more }
}

function parseStrictly(words: string[], options: Readonly<Record<string, Option>>) {
  try {
    return parseArgs({
      args: words,
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(options).map(([name, { value, isRepeatable = false }]) => [
          name,
          { type: value ? ('string' as const) : 'boolean', multiple: isRepeatable },
        ]),
      ),
    })
  } catch (error) {
    const [, unknown] = /^Unknown option '--([^']*)'/.exec((error as Error).message) ?? []
    if (unknown !== undefined) {
      const meant = didYouMean(
        `--${unknown}`,
        Object.keys(options).map((name) => `--${name}`),
      )
      throw new UsageError(`unknown option \`--${unknown}\`${meant}`)
    }
    const [, valueless = ''] = /^Option '--([^ ]+) <value>' argument missing/.exec((error as Error).message) ?? []
    if (valueless !== '') throw new UsageError(`--${valueless} needs its ${options[valueless]!.value}`)
    // Node's own sentence names the option; what follows it is advice on positionals.
    throw new UsageError((error as Error).message.split(/\. |\n/)[0]!)
  }
}

/** The values of a command's options, read as what they are meant to be. Each reader names the option when it isn't. */
export class OptionValues {
  readonly #values: Readonly<Record<string, unknown>>

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values
  }

  flag(name: string): boolean {
    return this.#values[name] === true
  }

  text(name: string, lengthMax = Number.POSITIVE_INFINITY): string | undefined {
    const value = this.#values[name] as string | undefined
    return value === undefined ? undefined : readText(value, `--${name}`, lengthMax)
  }

  /** The value may have any characters and several lines. */
  secret(name: string, lengthMax: number): string | undefined {
    const value = this.#values[name] as string | undefined
    if (value !== undefined) checkLength(value, `--${name}`, lengthMax)
    return value
  }

  /** The values of an option that may be given several times. */
  texts(name: string, lengthMax: number): string[] | undefined {
    const values = this.#values[name] as string[] | undefined
    return values?.map((value) => readText(value, `--${name}`, lengthMax))
  }

  /** A whole number from 1 to `max`; left out, an id of a workspace. */
  id(name: string, max = workspaceIdMax): number | undefined {
    const value = this.text(name)
    return value === undefined ? undefined : readId(value, `--${name}`, max)
  }

  /** A whole number from 1 to `max`. */
  count(name: string, max: number): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const count = Number(value)
    if (/^\d+$/.test(value) && count >= 1 && count <= max) return count
    throw new UsageError(`--${name} must be a whole number from 1 to ${max}, got \`${value}\``)
  }

  email(name: string): string | undefined {
    const value = this.text(name, identifierLengthMax)
    const email = value === undefined ? undefined : emailOf(value)
    if (email === null) throw new UsageError(`--${name} is no e-mail address`)
    return email
  }

  /** An IANA name, as it is written there. */
  timeZone(name: string): string | undefined {
    const value = this.text(name)
    const zone = value === undefined ? undefined : timeZoneNamed(value)
    if (value === undefined || zone !== undefined) return zone
    throw new UsageError(`--${name} must be an IANA name such as Europe/Berlin, got \`${value}\``)
  }

  /** A moment in milliseconds since 1970: RFC 3339 with its offset, so that it means the same everywhere. */
  time(name: string): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const parsed = parseDateTime([], value)
    if (parsed.ok && parsed.value.offsetMs !== null) return parsed.value.wallTime - parsed.value.offsetMs
    throw new UsageError(`--${name} must be a time such as 2030-01-31T12:00:00Z, got \`${value}\``)
  }

  httpUrl(name: string): URL | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    if (/^https?:\/\//i.test(value) && URL.canParse(value)) return new URL(value)
    throw new UsageError(`--${name} must be an http or https URL, got \`${value}\``)
  }

  oneOf<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.text(name)
    if (value === undefined || (choices as readonly string[]).includes(value)) return value as Choice | undefined
    throw new UsageError(`--${name} must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, got \`${value}\``)
  }

  /** True for the first word, false for the second; any other is refused. */
  either(name: string, yes: string, no: string): boolean | undefined {
    const value = this.oneOf(name, [yes, no])
    return value === undefined ? undefined : value === yes
  }
}

/** @throws UsageError naming `what` */
function readText(value: string, what: string, lengthMax: number): string {
  checkLength(value, what, lengthMax)
  if (!isPlainLine(value) || !value.isWellFormed()) throw new UsageError(`${what} must be one line of plain text`)
  return value
}

/** @throws UsageError naming `what` */
function checkLength(value: string, what: string, lengthMax: number): void {
  if (value.trim() === '') throw new UsageError(`${what} must not be empty`)
  if ([...value].length > lengthMax) throw new UsageError(`${what} must have at most ${lengthMax} characters`)
}

/** Postgres has the ids of workspaces as `integer`, all others as `bigint`. */
const workspaceIdMax = 2 ** 31 - 1

/** @throws UsageError naming `what` */
export function readId(text: string, what: string, max = Number.MAX_SAFE_INTEGER): number {
  const id = Number(text)
  if (/^\d+$/.test(text) && id >= 1 && id <= max) return id
  throw new UsageError(`${what} must be a whole number from 1, got \`${text}\``)
}

export function helpOf(command: Command): string {
  const options = Object.entries({ ...command.options, ...everywhere }).map(
    ([name, { value, meaning, isRequired }]) =>
      [`  --${name}${value ? ` ${value}` : ''}`, `${meaning}${isRequired ? ' Required.' : ''}`] as const,
  )
  const width = Math.max(...options.map(([left]) => left.length))
  return [
    `svc ${command.name}${command.argument ? ` ${command.argument}` : ''} [options]`,
    '',
    command.summary,
    '',
    ...options.map(([left, right]) => `${left.padEnd(width)}  ${right}`),
  ].join('\n')
}
