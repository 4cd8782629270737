/** Processes that an earlier start left behind. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { sleep } from '../../runtime/retry.ts'

/** Ends a process that an earlier start on the same folder left behind: in an orderly way if it can. */
export async function endLeftOver(pid: number, path: string, signal: NodeJS.Signals): Promise<void> {
  const attempts: [NodeJS.Signals, number][] = [
    [signal, 25_000],
    ['SIGKILL', 5_000],
  ]
  for (const [how, withinMs] of attempts) {
    if (!isRunning(pid, path)) return
    try {
      process.kill(pid, how)
    } catch (error) {
      // It ended by itself in between.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    for (let waitedMs = 0; waitedMs < withinMs && isRunning(pid, path); waitedMs += 50) {
      await sleep(50)
    }
  }
  if (isRunning(pid, path)) throw new Error(`process ${pid} of an earlier start doesn't end`)
}

/** True when process `pid` runs and was started with `path`, or a path below it, in its command line. */
function isRunning(pid: number, path: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  // A folder beside it may have a longer name that begins alike.
  return commandLineOf(pid)
    .split(path)
    .slice(1)
    .some((rest) => /^(?:$|[/\s\0])/.test(rest))
}

function commandLineOf(pid: number): string {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout ?? ''
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
