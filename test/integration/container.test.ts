/** The Dockerfile, as far as it runs without Docker. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { projectFile } from '../../runtime/paths.ts'
import { setUpApi } from '../support/api.ts'
import { setUpIngest } from '../support/ingest.ts'

const { stores, api } = setUpApi({ sharesWorkspace: true })
const ingest = setUpIngest(stores)

const [, words] = /^HEALTHCHECK.*\n +CMD (\[.*\])$/m.exec(readFileSync(projectFile('Dockerfile'), 'utf8'))!
const [, ...args] = JSON.parse(words!) as string[]

/** @returns the exit code of the image's health check: 0 means that the container is well */
function checkAt(port: string, host = ''): Promise<number> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { env: { ...process.env, PORT: port, LISTEN_HOST: host } })
    child.once('exit', (code) => resolve(code ?? -1))
  })
}

test('the health check of the image knows an API and an ingest that run by themselves, and one that is gone', async () => {
  const ports = [new URL(api.url).port, String(ingest.port), '1']
  expect(await Promise.all(ports.map((port) => checkAt(port)))).toEqual([0, 0, 1])
})

test.each(['127.0.0.2', '::1', '0.0.0.0', '::'])(
  'the health check of the image asks where LISTEN_HOST listens: %s',
  async (host) => {
    const server = createServer((_request, response) => response.end()).listen(0, host)
    await once(server, 'listening')
    expect(await checkAt(String((server.address() as AddressInfo).port), host)).toBe(0)
    server.close()
  },
)
