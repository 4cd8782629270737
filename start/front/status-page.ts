/** The page at `/`: the processes that run here, whether they are well, and where to go. It holds no key. */
import type { Supervised } from '../processes/supervise.ts'

const demoItem =
  '<li><a href="/demo/">The demo site</a>, which has the script: click about, and read its visits in the overview</li>'

/** `extern` names the stores that were given by a URL and so aren't ours to watch. @param root where this machine reaches it */
export function statusPage(
  children: readonly Supervised[],
  extern: readonly string[],
  root: string,
  hasDemo: boolean,
): string {
  const isWell = children.every((child) => child.isUp)
  const rows = [
    ...children.map((child) => row(child.name, child.isUp ? 'running' : 'starting again', child.isUp)),
    ...extern.map((name) => row(name, 'elsewhere, by its URL', true)),
  ]
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>svc</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
  td { padding: .1rem 1.5rem .1rem 0 }
  .well { color: #2a7d3f } .ill { color: #c0392b }
  code { font-size: .9em }
</style>
<h1>svc</h1>
<p>Web analytics and publishing. <strong class="${isWell ? 'well' : 'ill'}">${isWell ? 'All is well.' : 'Not everything is up.'}</strong></p>
<table>${rows.join('')}</table>
<ul>
  <li><a href="/dashboard">The dashboard</a>, for the owner: <code>npx svc owner link</code> makes a link that signs in</li>
  ${hasDemo ? demoItem : ''}
  <li><a href="/guides">The guides</a>; <a href="/llms.txt">llms.txt</a> lists them for language models</li>
  <li><a href="/docs">The API</a>: every operation, to be tried with your key; <a href="/v1/openapi.json">its description</a> for machines (OpenAPI 3.1). It is at <code>${root}/v1</code></li>
  <li>MCP, for assistants and agents, is at <code>${root}/mcp</code></li>
  <li><a href="/api/v1/growth/health">Health of event ingest</a>; events go to <code>${root}/api/v1/growth/track</code></li>
</ul>
<p>The keys stand in <code>dev.json</code> in the data folder.</p>
</html>
`
}

function row(name: string, state: string, isWell: boolean): string {
  return `<tr><td>${name}</td><td class="${isWell ? 'well' : 'ill'}">${state}</td></tr>`
}
