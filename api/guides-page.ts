/** The guides as pages for people: the text that `npm run build` rendered, between the list of guides and its own parts. */
import { readFile } from 'node:fs/promises'
import { projectFile } from '../runtime/paths.ts'
import { escapeHtml } from '../schemas/escape-html.ts'

/** By section and name what one finds in a guide. */
export type GuideList = Readonly<Record<string, Readonly<Record<string, string>>>>

/** As web/bundle/guides.ts writes it. */
interface RenderedGuide {
  readonly title: string
  readonly parts: readonly (readonly [anchor: string, heading: string])[]
  readonly html: string
}

type Rendered = Readonly<Record<string, RenderedGuide>>

export async function guideStyle(): Promise<Buffer> {
  const files = ['web/look.css', 'web/guides/style.css']
  return Buffer.concat(await Promise.all(files.map((file) => readFile(projectFile(file)))))
}

export async function guideHtml(list: GuideList, name: string): Promise<Buffer> {
  const rendered = await readRendered()
  const { title, html } = rendered[name]!
  return page({ title, root: '../', body: html, nav: navOf(list, rendered, name) })
}

export async function guideIndexHtml(list: GuideList): Promise<Buffer> {
  const rendered = await readRendered()
  const sections = Object.entries(list).map(([section, guides]) => {
    const items = Object.entries(guides).map(
      ([name, about]) =>
        `<li><a href="guides/${name}">${rendered[name]!.title}</a>: ${escapeHtml(about[0]!.toLowerCase() + about.slice(1))}</li>`,
    )
    return `<h2>${section}</h2><ul>${items.join('')}</ul>`
  })
  return page({ title: 'Guides', root: '', body: `<h1>Guides</h1>${sections.join('')}`, nav: '' })
}

async function readRendered(): Promise<Rendered> {
  return JSON.parse(await readFile(projectFile('dist/web/guides.json'), 'utf8')) as Rendered
}

/** All guides, with the parts of the one that is shown. */
function navOf(list: GuideList, rendered: Rendered, shown: string): string {
  const item = (name: string) => {
    const { title, parts } = rendered[name]!
    if (name !== shown) return `<li><a href="${name}">${title}</a></li>`
    const links = parts.map(([anchor, heading]) => `<li><a href="#${anchor}">${heading}</a></li>`)
    return `<li><a href="${name}" aria-current="page">${title}</a><ul>${links.join('')}</ul></li>`
  }
  const sections = Object.entries(list).map(
    ([section, guides]) => `<h2>${section}</h2><ul>${Object.keys(guides).map(item).join('')}</ul>`,
  )
  return `<nav id="guides" aria-label="Guides">${sections.join('')}</nav>`
}

interface GuidePage {
  readonly title: string
  /** The way from the page to the root. Addresses are relative, so that they work behind a proxy under another path. */
  readonly root: '' | '../'
  readonly body: string
  readonly nav: string
}

function page({ title, root, body, nav }: GuidePage): Buffer {
  return Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – svc</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}guides/style.css">
</head>
<body>
<header>
<strong><a href="${root}guides">svc guides</a></strong>
${nav === '' ? '' : '<a class="to-list" href="#guides">All guides</a>\n'}<a href="${root}docs">API reference</a>
<a href="${root}dashboard">Dashboard</a>
</header>
<div${nav === '' ? '' : ' class="columns"'}>
<main>
${body}
</main>
${nav}
</div>
</body>
</html>
`)
}
