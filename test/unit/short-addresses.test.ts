/** Which addresses of the installation are short links. Links and short domains lead to none of them. */
import { expect, test } from 'vitest'
import { keyUnderRoots } from '../../authoring/links/short-addresses.ts'

const withPath = { apiHost: 'https://api.example.com', shortUrlHost: 'https://exm.example/go' }
const atRoot = { apiHost: 'https://api.example.com', shortUrlHost: 'https://exm.example' }

test.each([
  ['https://exm.example/go/spring', withPath, 'spring'],
  ['https://api.example.com/go/spring/', withPath, 'spring'],
  ['https://api.example.com/l/spring?a=b', withPath, 'spring'],
  ['https://api.example.com/l/%73prin%67', withPath, 'spring'],
  ['https://api.example.com/l/spring%2F', withPath, null],
  ['https://api.example.com/pricing', withPath, null],
  ['https://EXM.example./spring', atRoot, 'spring'],
  ['https://exm.example/l/spring', atRoot, 'spring'],
  ['https://exm.example/', atRoot, null],
  ['https://exm.example:8443/spring', atRoot, null],
  // A site may share the API's host: keys stand at the root of the other host alone.
  ['https://api.example.com/pricing', atRoot, null],
  ['https://api.example.com/l/spring', atRoot, 'spring'],
  ['https://api.example.com/l/spring', { ...atRoot, shortUrlHost: '' }, 'spring'],
])('%s', (url, hosts, key) => {
  expect(keyUnderRoots(new URL(url), hosts)).toBe(key)
})
