/** Processes that an earlier start left behind. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** True when process `pid` runs and was started with `part` in its command line. */
function isRunning(pid: number, part: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(part)
    } catch {
      return false
    }
  }
  const { stdout } = spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' })
  return stdout?.includes(part) ?? false
}

/** Ends a process that an earlier start on the same folder left behind: in an orderly way if it can. */
export async function endLeftOver(pid: number, part: string, signal: NodeJS.Signals): Promise<void> {
  const attempts: [NodeJS.Signals, number][] = [
    [signal, 25_000],
    ['SIGKILL', 5_000],
  ]
  for (const [how, withinMs] of attempts) {
    if (!isRunning(pid, part)) return
    try {
      process.kill(pid, how)
    } catch (error) {
      // It ended by itself in between.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    for (let waitedMs = 0; waitedMs < withinMs && isRunning(pid, part); waitedMs += 50) {
      await new Promise((go) => setTimeout(go, 50))
    }
  }
  if (isRunning(pid, part)) throw new Error(`process ${pid} of an earlier start doesn't end`)
}
