/**
 * Stands for curl where the documentation's examples are run: takes the options that they use, and refuses any other. The
 * addresses of the examples become those of the test (DOC_ADDRESSES), and every answer is written down (DOC_ANSWERS).
 */
import { appendFileSync, readFileSync } from 'node:fs'

const args = process.argv.slice(2)
const headers = new Headers({ 'User-Agent': 'curl/8.0.0', Accept: '*/*' })
let url
let method
let data

while (args.length > 0) {
  const arg = args.shift()
  if (arg === '-H') {
    const header = args.shift()
    const colon = header.indexOf(':')
    headers.set(header.slice(0, colon), header.slice(colon + 1).trim())
  } else if (arg === '-X') method = args.shift()
  else if (arg === '-d') {
    const given = args.shift()
    // As curl does: a file's line breaks are left out.
    data = given === '@-' ? readFileSync(0, 'utf8').replace(/[\r\n]/g, '') : given
    if (!headers.has('Content-Type')) headers.set('Content-Type', 'application/x-www-form-urlencoded')
  } else if (arg.startsWith('-') || url !== undefined) {
    process.stderr.write(`this stand-in for curl doesn't know ${arg}\n`)
    process.exit(2)
  } else url = arg
}

const addresses = Object.entries(JSON.parse(process.env.DOC_ADDRESSES))
const [shown, real] = addresses.find(([address]) => url.startsWith(address)) ?? []
if (shown === undefined) {
  process.stderr.write(`${url} is no address of the examples\n`)
  process.exit(2)
}
const response = await fetch(real + url.slice(shown.length), {
  method: method ?? (data === undefined ? 'GET' : 'POST'),
  headers,
  ...(data !== undefined && { body: data }),
  redirect: 'manual',
})
const text = await response.text()
appendFileSync(process.env.DOC_ANSWERS, `${JSON.stringify({ status: response.status, text })}\n`)
process.stdout.write(`${text}\n`)
