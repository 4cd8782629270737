import { listSetAsideJobs } from '../../postgres/tables/set-aside-jobs.ts'
import { defineCommand } from '../command.ts'
import { table } from '../table.ts'

export const listJobs = defineCommand({
  name: 'jobs list',
  summary: 'List the jobs that failed for good and were set aside, oldest first, with their reason.',
  options: {},
  run: ({ installation }) => listSetAsideJobs(installation.postgres()),
  show: (jobs) =>
    jobs.length === 0
      ? 'nothing is set aside'
      : table(
          ['id', 'job', 'about', 'set aside', 'retry', 'reason'],
          jobs.map(({ id, job, subject, reason, set_aside_at, retry_asked_at }) => [
            ...[String(id), job, subject, set_aside_at.toISOString()],
            ...[retry_asked_at === null ? '' : 'asked', reason],
          ]),
        ),
})
