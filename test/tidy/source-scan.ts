/** Reads TypeScript as tokens, so that comments and texts are never taken for code, nor code for them. */
import { createScanner, SyntaxKind } from 'typescript/unstable/ast'

interface Source {
  readonly text: string
}

export interface Token {
  readonly kind: 'word' | 'mark' | 'text' | 'comment'
  /** As it stands in the file; of a text without placeholders its content. */
  readonly value: string
  readonly line: number
}

export interface Import {
  readonly specifier: string
  /** Only types come in: nothing of it runs. */
  readonly typeOnly: boolean
  readonly line: number
}

/** After one of these a slash divides; after anything else it opens a regular expression. */
const endsExpression = new Set(['word', 'text', ')', ']', '}'])
const wordsBeforeExpression = new Set('return typeof case in of void delete throw new await'.split(' '))

interface Read {
  readonly code: Token[]
  readonly comments: Token[]
}

/** Each rule reads the same tokens: they are kept as long as their file is. */
const read = new WeakMap<Source, Read>()

/** All tokens but comments. */
export function codeOf(file: Source): Token[] {
  return readOnce(file).code
}

export function commentsOf(file: Source): Token[] {
  return readOnce(file).comments
}

function readOnce(file: Source): Read {
  const known = read.get(file)
  if (known) return known
  const tokens = tokensOf(file.text)
  const isComment = ({ kind }: Token) => kind === 'comment'
  const made = { code: tokens.filter((token) => !isComment(token)), comments: tokens.filter(isComment) }
  read.set(file, made)
  return made
}

function tokensOf(source: string): Token[] {
  const scanner = createScanner(false)
  scanner.setText(source)
  const tokens: Token[] = []
  // For every open `${` of a template, how many braces are open within it.
  const openTemplates: number[] = []
  let line = 1
  let counted = 0
  for (;;) {
    let kind = scanner.scan()
    if (kind === SyntaxKind.EndOfFile) return tokens
    if (kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken) {
      if (opensRegularExpression(tokens)) kind = scanner.reScanSlashToken()
    } else if (kind === SyntaxKind.OpenBraceToken && openTemplates.length > 0) {
      openTemplates[openTemplates.length - 1]! += 1
    } else if (kind === SyntaxKind.CloseBraceToken && openTemplates.length > 0) {
      if (openTemplates.at(-1) === 0) {
        kind = scanner.reScanTemplateToken(false)
        if (kind === SyntaxKind.TemplateTail) openTemplates.pop()
      } else {
        openTemplates[openTemplates.length - 1]! -= 1
      }
    }
    if (kind === SyntaxKind.TemplateHead) openTemplates.push(0)
    const start = scanner.getTokenStart()
    for (; counted < start; counted++) if (source[counted] === '\n') line++
    const token = describe(kind, scanner.getTokenText(), scanner.getTokenValue(), line)
    if (token) tokens.push(token)
  }
}

function opensRegularExpression(before: Token[]): boolean {
  const last = before.findLast((token) => token.kind !== 'comment')
  if (!last) return true
  if (last.kind === 'word') return wordsBeforeExpression.has(last.value)
  return !endsExpression.has(last.kind === 'text' ? 'text' : last.value)
}

function describe(kind: number, text: string, value: string, line: number): Token | undefined {
  switch (kind) {
    case SyntaxKind.WhitespaceTrivia:
    case SyntaxKind.NewLineTrivia:
      return undefined
    case SyntaxKind.SingleLineCommentTrivia:
    case SyntaxKind.MultiLineCommentTrivia:
    case SyntaxKind.ConflictMarkerTrivia:
      return { kind: 'comment', value: text, line }
    case SyntaxKind.StringLiteral:
    case SyntaxKind.NoSubstitutionTemplateLiteral:
      return { kind: 'text', value, line }
    case SyntaxKind.TemplateHead:
    case SyntaxKind.TemplateMiddle:
    case SyntaxKind.TemplateTail:
    case SyntaxKind.RegularExpressionLiteral:
      return { kind: 'text', value: text, line }
    default:
      return { kind: /^[\w$#]/.test(text) ? 'word' : 'mark', value: text, line }
  }
}

/** Every module that a file names: imports, re-exports, dynamic imports, `require`, and `new URL('./x', import.meta.url)`. */
export function importsOf(file: Source): Import[] {
  const tokens = codeOf(file)
  const found: Import[] = []
  tokens.forEach((token, at) => {
    // A template that begins with a placeholder names no module, as a variable names none.
    if (token.kind !== 'text' || writtenOut(token.value) === '') return
    const [before, twoBefore, threeBefore] = [tokens[at - 1], tokens[at - 2], tokens[at - 3]]
    const add = (typeOnly = false) => found.push({ specifier: writtenOut(token.value), typeOnly, line: token.line })
    if (isWord(before, 'from')) add(opensWithType(tokens, at - 1))
    else if (isWord(before, 'import')) add()
    else if (before?.value === '(') {
      if (isWord(twoBefore, 'import')) add(isWord(threeBefore, 'typeof'))
      else if (isWord(twoBefore, 'require')) add()
      else if (isWord(twoBefore, 'resolve') && threeBefore?.value === '.') {
        const owner = tokens[at - 4]
        // The last of these is createRequire(…).resolve('x').
        if (isWord(owner, 'require') || isWord(owner, 'meta') || owner?.value === ')') add()
      } else if (isWord(twoBefore, 'URL') && isWord(threeBefore, 'new') && tokens[at + 2]?.value === 'import') add()
    }
  })
  return found
}

/** The text of a template before its first placeholder, as in `require(\`@scope/${platform}\`)`. */
function writtenOut(text: string): string {
  return text.startsWith('`') ? text.slice(1).replace(/\$\{$/, '') : text
}

function isWord(token: Token | undefined, value: string): boolean {
  return token?.kind === 'word' && token.value === value
}

/** Whether the import or export that reaches `from` began with `import type` or `export type`. */
function opensWithType(tokens: Token[], from: number): boolean {
  for (let at = from - 1; at >= 0; at--) {
    const token = tokens[at]
    if (isWord(token, 'import') || isWord(token, 'export')) {
      const [next, afterNext] = [tokens[at + 1], tokens[at + 2]]
      // `import type from 'x'` and `import type, { … } from 'x'` bring in a value that happens to be called `type`.
      return isWord(next, 'type') && afterNext?.value !== ',' && !isWord(afterNext, 'from')
    }
  }
  return false
}
