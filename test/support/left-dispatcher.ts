/** Vitest's setup of each file: files share a process, and a dispatcher left behind changes the answers of later files. */
import { getGlobalDispatcher } from 'undici'
import { afterAll, expect } from 'vitest'

/** Node's own `fetch` goes through it, too. */
const before = getGlobalDispatcher()

afterAll(() => expect(getGlobalDispatcher(), 'the global dispatcher of undici').toBe(before))
