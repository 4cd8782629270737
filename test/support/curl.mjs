/**
 * Stands for curl where the documentation's examples are run: takes the options that they use, and refuses any other. The
 * addresses of the examples become those of the test (DOC_ADDRESSES), and every answer is written down (DOC_ANSWERS).
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, extname } from 'node:path'

const args = process.argv.slice(2)
const headers = new Headers({ 'User-Agent': 'curl/8.0.0', Accept: '*/*' })
let url
let method
let data
let form
let file

while (args.length > 0) {
  const arg = args.shift()
  if (arg === '-H') {
    const header = args.shift()
    const colon = header.indexOf(':')
    headers.set(header.slice(0, colon), header.slice(colon + 1).trim())
  } else if (arg === '-X') method = args.shift()
  else if (arg === '-o') file = args.shift()
  else if (arg === '-F') {
    const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(args.shift())
    form ??= new FormData()
    const path = value.slice(1)
    // As curl does: the type by the name.
    const type =
      { '.png': 'image/png', '.jpg': 'image/jpeg', '.mp4': 'video/mp4' }[extname(path)] ?? 'application/octet-stream'
    if (value.startsWith('@')) form.set(name, new File([readFileSync(path)], basename(path), { type }))
    else form.set(name, value)
  } else if (arg === '-d') {
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
  method: method ?? (data === undefined && form === undefined ? 'GET' : 'POST'),
  headers,
  ...(data !== undefined && { body: data }),
  ...(form !== undefined && { body: form }),
  redirect: 'manual',
})
if (file !== undefined) {
  writeFileSync(file, Buffer.from(await response.arrayBuffer()))
  process.exit(response.ok ? 0 : 22)
}
const text = await response.text()
appendFileSync(process.env.DOC_ANSWERS, `${JSON.stringify({ status: response.status, text })}\n`)
process.stdout.write(`${text}\n`)
