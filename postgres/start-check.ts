/** Checks of a service's settings against the data. They need Postgres, and a service starts without it. */
import { SettingError } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import { sleep } from '../runtime/retry.ts'
import type { Shutdown } from '../runtime/shutdown.ts'

const retryMs = 5_000

/**
 * Runs the check. While Postgres is away it is run later, and stops the service then where it fails.
 * @throws SettingError of the check
 */
export async function checkAtStart(check: () => Promise<void>, shutdown: Shutdown, log: Log): Promise<void> {
  try {
    await check()
  } catch (error) {
    if (error instanceof SettingError) throw error
    log.warn({ err: error }, 'the settings can not be checked against the data yet')
    void checkLater(check).catch((fault: Error) => {
      log.error(fault.message)
      return shutdown.stop(fault.message, 1)
    })
  }
}

async function checkLater(check: () => Promise<void>): Promise<void> {
  for (;;) {
    await sleep(retryMs)
    try {
      return await check()
    } catch (error) {
      if (error instanceof SettingError) throw error
    }
  }
}
