/**
 * Renders the guides of docs/ to HTML, as `npm run build` keeps them in `dist/web/guides.json`: production has no renderer.
 * Raw HTML of a guide is shown as text. Held by test/contract/guides.test.ts.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Marked, type Tokens } from 'marked'
import { projectFile } from '../../runtime/paths.ts'
import { escapeHtml } from '../../schemas/escape-html.ts'

/** A guide as the file has it, by its name. api/guides.ts puts the page around it. */
interface RenderedGuide {
  readonly title: string
  /** Its parts: anchors with their headings, as HTML. */
  readonly parts: readonly (readonly [anchor: string, heading: string])[]
  readonly html: string
}

export function renderGuide(markdown: string): RenderedGuide {
  const headings: { depth: number; anchor: string; html: string }[] = []
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = anchorOf(text)
        const html = this.parser.parseInline(tokens)
        headings.push({ depth, anchor, html })
        return `<h${depth} id="${anchor}">${html}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens)
        const address = addressOf(href)
        return address === undefined ? text : `<a href="${escapeHtml(address)}">${text}</a>`
      },
      // By keys they scroll only where they can have the focus.
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
      table(token) {
        return `<div class="table" tabindex="0">${tableHtml(token, (cell) => this.parser.parseInline(cell.tokens))}</div>\n`
      },
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    },
  })
  const html = marked.parse(markdown, { async: false })
  return {
    title: headings[0]!.html,
    parts: headings.filter(({ depth }) => depth === 2).map((heading) => [heading.anchor, heading.html]),
    html,
  }
}

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** Guides are served without their ending. Files outside of docs/ aren't served: undefined. */
function addressOf(href: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href
  const guide = /^([a-z-]+)\.md(#.*)?$/.exec(href)
  return guide ? `${guide[1]}${guide[2] ?? ''}` : undefined
}

function tableHtml({ header, rows }: Tokens.Table, inline: (cell: Tokens.TableCell) => string): string {
  const row = (cells: readonly Tokens.TableCell[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join('')}</tr>`
  return `<table><thead>${row(header, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table>`
}

/** Writes all of them to `file`. */
function writeGuides(file: string): void {
  const names = readdirSync(projectFile('docs')).filter((name) => name.endsWith('.md'))
  const rendered = names.map((name) => [
    name.slice(0, -'.md'.length),
    renderGuide(readFileSync(projectFile('docs', name), 'utf8')),
  ])
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(Object.fromEntries(rendered)))
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeGuides(process.argv[2]!)
}
