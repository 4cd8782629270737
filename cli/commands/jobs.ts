/** Jobs that failed for good. */
import { askForRetry, countSetAsideJobs, listSetAsideJobs } from '../../postgres/tables/operation/set-aside-jobs.ts'
import { setAsideJobsListed, setAsideJobsListedMax } from '../../schemas/limits/store-limits.ts'
import { CommandFailed, defineCommand, readId } from '../command.ts'
import { tableOr } from '../table.ts'

export const listJobs = defineCommand({
  name: 'jobs list',
  summary: 'List the jobs that failed for good and were set aside, oldest first, with their reason.',
  options: {
    limit: {
      value: 'N',
      meaning: `At most so many, up to ${setAsideJobsListedMax}; ${setAsideJobsListed} when left out.`,
    },
  },
  async run({ options, installation, progress }) {
    const max = options.count('limit', setAsideJobsListedMax) ?? setAsideJobsListed
    const pg = installation.postgres()
    const jobs = await listSetAsideJobs(pg, max)
    const count = [...(await countSetAsideJobs(pg)).values()].reduce((sum, each) => sum + each, 0)
    const more = max < setAsideJobsListedMax ? ': --limit N shows more' : ''
    if (count > jobs.length) progress.line(`the oldest ${jobs.length} of ${count} are shown${more}`)
    return jobs
  },
  show: (jobs) =>
    tableOr(
      'nothing is set aside',
      ['id', 'job', 'about', 'set aside', 'retry', 'reason'],
      jobs.map(({ id, job, subject, reason, set_aside_at, retry_asked_at }) => [
        String(id),
        job,
        subject,
        set_aside_at.toISOString(),
        retry_asked_at === null ? '' : 'asked',
        reason,
      ]),
    ),
})

export const retryJobs = defineCommand({
  name: 'jobs retry',
  summary: 'Let the pipeline try a job again that was set aside, or all of them.',
  argument: 'ID|all',
  options: {},
  async run({ argument, installation }) {
    const id = argument === 'all' ? undefined : readId(argument, 'ID')
    const asked = await askForRetry(installation.postgres(), id)
    if (id !== undefined && asked.length === 0) throw new CommandFailed(`there is no job ${id} that was set aside`)
    return asked
  },
  show: ({ length }) => (length === 0 ? 'nothing is set aside' : `jobs that the pipeline will try again: ${length}`),
})
