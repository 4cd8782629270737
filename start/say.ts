/** Output of `npm start` for its user. */
import { relative } from 'node:path'
import { devFilePath } from './dev-file.ts'
import type { Started } from './product.ts'

/** Prints a line of progress. */
export function say(line: string): void {
  process.stdout.write(`svc: ${line}\n`)
}

/** Prints the next steps. The secret key is shown only when it is new. */
export function greet({ localRoot, dev, isNewKey, signInUrl, hasDemo }: Started): void {
  const file = relative(process.cwd(), devFilePath(dev.data_dir)) || devFilePath(dev.data_dir)
  const keys = isNewKey
    ? `Keys, shown this once (later they stand in ${file}):
  tracking key (public)  ${dev.tracking_key}
  API key (secret)       ${dev.api_key}`
    : `Keys: see ${file}`
  const readKey = isNewKey ? dev.api_key : `$(node -p "require('${devFilePath(dev.data_dir)}').api_key")`
  const demo = hasDemo
    ? `\nOr let a browser send them, from a small site that has the script:\n  ${localRoot}/demo/\n`
    : ''
  process.stdout.write(`
svc runs at ${localRoot}/  (Ctrl-C stops it)

Your dashboard (the link signs you in once, within 15 minutes, on this machine; \`npx svc owner link\` makes another):
  ${signInUrl}

${keys}

Send an event:
  curl ${localRoot}/api/v1/growth/track -d '{"tracking_key":"${dev.tracking_key}","event_type":"track","event_name":"pageview","url":"https://example.com/","anonymous_id":"me"}'
and read it two seconds later:
  curl ${localRoot}/v1/analytics/overview -H "Authorization: Bearer ${readKey}"
${demo}`)
}
