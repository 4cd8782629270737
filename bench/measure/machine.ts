/** The machine of a result. */
import { spawnSync } from 'node:child_process'
import { cpus, release, totalmem } from 'node:os'
import { projectRoot } from '../../runtime/paths.ts'

export interface MachineFacts {
  readonly processor: string
  readonly cores: number
  readonly memoryGb: number
  readonly kernel: string
  readonly node: string
}

export function machineFacts(): MachineFacts {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: `${process.platform} ${release()}`,
    node: process.version,
  }
}

/** The commit that is measured, with a mark when files differ from it. */
export function currentCommit(): string {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: projectRoot, encoding: 'utf8' })
  const { status, stdout } = git('rev-parse', '--short=12', 'HEAD')
  if (status !== 0) return 'unknown'
  // The results themselves are written by the bench.
  const isChanged = git('status', '--porcelain', '--', '.', ':!bench/results', ':!bench/RESULTS.md').stdout !== ''
  return `${stdout.trim()}${isChanged ? ' with changes' : ''}`
}
