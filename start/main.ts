/**
 * `npm start`: the whole product on this machine. Starts the stores that aren't given by a URL, brings the schemas up to
 * date, and makes a first workspace. Then it keeps the services running behind one port, until Ctrl-C.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig, SettingError } from '../runtime/config.ts'
import { StartRefused, takeDataFolder } from './data-folder.ts'
import { makeProduct } from './product.ts'
import { greet, say } from './say.ts'

async function main(): Promise<void> {
  const config = readConfig()
  if (config.nodeEnv === 'production' && !config.secretKey) {
    const kept = join(config.dataDir, 'secret.key')
    throw new SettingError(
      `SECRET_KEY must be set in production${existsSync(kept) ? `: ${kept} has that of the data` : ''}`,
    )
  }
  const folder = takeDataFolder(config.dataDir)
  const product = makeProduct(config, folder)

  let stopping: Promise<void> | undefined
  const stop = (why: string, code: number) => {
    stopping ??= (async () => {
      let exitCode = code
      say(why)
      try {
        await product.stop()
        say('stopped')
      } catch (error) {
        say(lineOf(error))
        exitCode = 1
      } finally {
        folder.release()
        process.exit(exitCode)
      }
    })()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop('stopping', 0))
  process.on('uncaughtException', (error) => stop(lineOf(error), 1))
  // The file that lines go to may lie on a full disk.
  process.stdout.on('error', () => {})

  try {
    const started = await product.start()
    if (!stopping) greet(started)
  } catch (error) {
    // A stop in the middle of the start makes the rest of it fail, which says nothing new.
    if (!stopping) stop(lineOf(error), 1)
  }
}

function lineOf(error: unknown): string {
  const isOurs = error instanceof SettingError || error instanceof StartRefused
  return isOurs ? error.message : `can't go on: ${error instanceof Error ? error.message : error}`
}

main().catch((error: unknown) => {
  process.stderr.write(`${lineOf(error)}\n`)
  process.exit(1)
})
