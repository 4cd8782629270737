/** The Dockerfile, as far as it runs without Docker. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { projectFile } from '../../runtime/paths.ts'
import { setUpApi } from '../support/api.ts'
import { setUpIngest } from '../support/ingest.ts'

const { stores, api } = setUpApi({ sharesWorkspace: true })
const ingest = setUpIngest(stores)

const [, words] = /^HEALTHCHECK.*\n +CMD (\[.*\])$/m.exec(readFileSync(projectFile('Dockerfile'), 'utf8'))!
const [, ...args] = JSON.parse(words!) as string[]

/** @returns the exit code of the image's health check: 0 means that the container is well */
function checkAt(port: string): Promise<number> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { env: { ...process.env, PORT: port } })
    child.once('exit', (code) => resolve(code ?? -1))
  })
}

test('the health check of the image knows an API and an ingest that run by themselves, and one that is gone', async () => {
  const ports = [new URL(api.url).port, String(ingest.port), '1']
  expect(await Promise.all(ports.map(checkAt))).toEqual([0, 0, 1])
})
