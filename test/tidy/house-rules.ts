/** Checks of how files are named, how long they are and what may stand in them. Offences are sentences. */
import { isGenerated, isSource, type ProjectFile } from './project-files.ts'
import { codeOf, commentsOf, type Token } from './source-scan.ts'

const linesMax = 300
/** Random cases of a property, in any form of the run. */
const casesMin = 50
/** Names that say nothing of what is inside. */
const emptyNames = ['util', 'utils', 'helper', 'helpers', 'common', 'shared', 'misc', 'manager', 'service']

function eachMatch(file: ProjectFile, pattern: RegExp, offence: string): string[] {
  return file.text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${file.path}:${at + 1} ${offence}`] : []))
}

export function longFiles(files: readonly ProjectFile[]): string[] {
  return files
    .filter(({ path }) => isSource(path) && !isGenerated(path) && !path.startsWith('test/'))
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > linesMax)
    .map(({ path, lines }) => `${path} has ${lines} lines: cut it into subjects of at most ${linesMax}`)
}

export function emptyNamed(files: readonly ProjectFile[]): string[] {
  return files.flatMap(({ path }) => {
    const bad = path.split('/').find((part) => {
      const stem = part.split('.')[0]!
      return emptyNames.includes(stem) || emptyNames.includes(stem.split('-').at(-1)!)
    })
    return bad ? [`${path}: "${bad}" doesn't say what is inside`] : []
  })
}

/** The one place that may skip a test, with a reason that the run's last lines repeat. */
const skippingFile = 'test/support/left-out.ts'
const weakening = ['only', 'skip', 'todo', 'skipIf', 'runIf', 'fails']

export function weakenedTests(files: readonly ProjectFile[]): string[] {
  return files
    .filter(({ path }) => isSource(path) && /^(test|bench)\//.test(path) && path !== skippingFile)
    .flatMap((file) => {
      const tokens = codeOf(file)
      return tokens.flatMap(({ kind, value, line }, at) => {
        const [before, after] = [tokens[at - 1]?.value, tokens[at + 1]?.value]
        // A member, by name or by text; what is taken out of a context; an option.
        const isIndex = before === '[' && after === ']' && /^[\w)\]]/.test(tokens[at - 2]?.value ?? '')
        const isMember = kind === 'word' ? before === '.' || before === '?.' : isIndex
        const isTaken = kind === 'word' && (before === '{' || before === ',') && /^[,}:=]$/.test(after ?? '')
        const isOption = weakening.includes(value) && (isMember || isTaken)
        const isName = /^(x|f)(it|test|describe)$/.test(value) && after === '('
        return isOption || isName ? [`${file.path}:${line} weakens the run with ${value}`] : []
      })
    })
}

/** Tests draw from the run's seed: what chance found once would else not be found again. */
export function unseededTests(files: readonly ProjectFile[]): string[] {
  return files
    .filter(({ path }) => isSource(path) && path.startsWith('test/'))
    .flatMap((file) => {
      const tokens = codeOf(file)
      const draws = tokens.filter(
        ({ kind, value }, at) =>
          (kind === 'word' && value === 'randomInt' && tokens[at + 1]?.value === '(') ||
          (value === 'random' && tokens[at - 1]?.value === '.' && tokens[at - 2]?.value === 'Math'),
      )
      return draws.map(
        ({ line }) => `${file.path}:${line} draws without a seed: take drawsOf of test/support/short-form.ts`,
      )
    })
}

/** A file that tests share is loaded once for many of them: a time that it read then is old for the later ones. */
export function oldClocks(files: readonly ProjectFile[]): string[] {
  const read = /^(export )?(const|let) (?!.*=>).*\b((Date|performance)\.now\(|new Date\(\))/
  return files
    .filter(({ path }) => isSource(path) && path.startsWith('test/') && !path.endsWith('.test.ts'))
    .flatMap((file) => eachMatch(file, read, 'reads the clock once for many test files: do it in a function'))
}

/** To `toMatchObject` any object is like `{}`. */
export function emptyMatches(files: readonly ProjectFile[]): string[] {
  return files
    .filter(({ path }) => isSource(path) && path.startsWith('test/'))
    .flatMap((file) => {
      const tokens = codeOf(file)
      return tokens.flatMap(({ value: name }, at) => {
        const call = name === 'toMatchObject' ? callAt(tokens, at + 1) : []
        return call.flatMap(({ kind, value, line }, within) => {
          const isEmpty = kind === 'mark' && value === '{' && call[within + 1]?.value === '}'
          const isValue = /^[:([,]$/.test(call[within - 1]?.value ?? '')
          return isEmpty && isValue ? [`${file.path}:${line} takes any object for {}: take toEqual`] : []
        })
      })
    })
}

/** The tokens from the bracket at `from` up to the one that closes it. */
function callAt(tokens: readonly Token[], from: number): Token[] {
  let depth = 0
  const end = tokens.findIndex(({ kind, value }, at) => {
    if (at >= from && kind === 'mark') depth += value === '(' ? 1 : value === ')' ? -1 : 0
    return at >= from && depth === 0
  })
  return tokens.slice(from, end)
}

/** A property that tries few cases says little. */
export function fewCases(files: readonly ProjectFile[]): string[] {
  return files
    .filter(({ path }) => isSource(path) && path.startsWith('test/'))
    .flatMap((file) => {
      const tokens = codeOf(file)
      return tokens.flatMap(({ value, line }, at) => {
        // `const runs = Number(… ?? 50)`, where the environment may say another count.
        const isCounted = value === 'runs' && tokens[at + 2]?.value === 'Number'
        if (value !== 'numRuns' && !isCounted) return []
        const isEnd = isCounted
          ? (token: { line: number }) => token.line > line
          : ({ value: mark }: { value: string }) => mark === ',' || mark === '}'
        const end = tokens.findIndex((token, later) => later > at && isEnd(token))
        const counts = tokens.slice(at + 1, end).filter(({ value: count }) => /^\d/.test(count))
        const least = Math.min(...counts.map(({ value: count }) => Number(count.replaceAll('_', ''))))
        // One: a case that was found is shown again.
        return least > 1 && least < casesMin
          ? [`${file.path}:${line} tries ${least} cases of a property: at least ${casesMin}`]
          : []
      })
    })
}

/** `...{ a, b }` within `{ }` says no more than `a, b`. */
export function spreadLiterals(files: readonly ProjectFile[]): string[] {
  return files
    .filter(({ path }) => isSource(path) && !isGenerated(path))
    .flatMap((file) => {
      const tokens = codeOf(file)
      const spreads = tokens.filter(({ value }, at) => value === '...' && tokens[at + 1]?.value === '{')
      return spreads.map(({ line }) => `${file.path}:${line} spreads a literal: write its properties out`)
    })
}

export function leftNotes(files: readonly ProjectFile[]): string[] {
  return files.flatMap((file) => eachMatch(file, /\b(TO[D]O|FIX[M]E|X[X]X)\b/, 'is left to be done: do it or drop it'))
}

/** Folders of one person's machine. A path within a URL isn't one. */
export function machinePaths(files: readonly ProjectFile[]): string[] {
  return files.flatMap((file) =>
    eachMatch(file, /(?<![\w./~}-])\/(work|home|root|Users)\/\w/, 'names a place on one machine'),
  )
}

/** Where packages are fetched from is the installing machine's affair. */
export function registryHosts(files: readonly ProjectFile[]): string[] {
  return files.flatMap((file) => {
    const found = eachMatch(
      file,
      /\b(registry|npm|pypi|proxy)\.[a-z0-9-]+(\.[a-z0-9-]+)*\.(org|com|net|io|dev|internal|local)\b|^\s*(@[\w-]+:)?registry\s*=|:_auth[T]oken/,
      'names a package registry',
    )
    const locked =
      file.path === 'package-lock.json' ? eachMatch(file, /"resolved":\s*"http/, 'names a package registry') : []
    return [...found, ...locked]
  })
}

export function migrationGaps(files: readonly ProjectFile[]): string[] {
  const offences: string[] = []
  const byFolder = new Map<string, string[]>()
  for (const { path } of files) {
    const [folder, name] = path.split('/migrations/')
    if (name !== undefined) byFolder.set(folder!, [...(byFolder.get(folder!) ?? []), name])
  }
  for (const [folder, names] of byFolder) {
    names.sort().forEach((name, at) => {
      const expected = String(at + 1).padStart(4, '0')
      if (!new RegExp(`^${expected}_[a-z0-9]+(_[a-z0-9]+)*\\.sql$`).test(name)) {
        offences.push(`${folder}/migrations/${name} should be ${expected}_<what it does>.sql`)
      }
    })
  }
  return offences
}

/** A sentence that begins with "Of" or "What" hides its subject. Comments of SQL are whole lines, also within a text. */
export function subjectlessComments(files: readonly ProjectFile[]): string[] {
  return files
    .filter(({ path }) => !isGenerated(path))
    .flatMap((file) => {
      const comments = isSource(file.path) ? commentsOf(file) : []
      const offences = [...comments, ...commentsOfSql(file)].flatMap(({ value, line }) => {
        // Markers and indents become blanks of the same number, so that an offence keeps its line.
        const said = value.replace(/^[ \t]*(\/\*+|\/\/|--|\*(?!\/))/gm, '')
        const begins = [...said.matchAll(/(?:^|[.!?:]["”’)`]*\s|\n[ \t]*\n|\n[ \t]*- )\s*(Of|What)\s/g)]
        return begins.map(({ index, 0: found, 1: word }) => {
          const before = said.slice(0, index + found.trimEnd().length)
          return `${file.path}:${line + before.split('\n').length - 1} begins a sentence with "${word}": name its subject`
        })
      })
      return offences
    })
}

/** Whole lines, those that follow each other as one comment. */
function commentsOfSql({ path, text }: ProjectFile): { value: string; line: number }[] {
  if (!/\.(sql|ts)$/.test(path)) return []
  return [...text.matchAll(/(?:^[ \t]*--.*\n?)+/gm)].map(({ index, 0: value }) => ({
    value,
    line: text.slice(0, index).split('\n').length,
  }))
}
