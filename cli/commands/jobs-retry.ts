import { askForRetry } from '../../postgres/tables/set-aside-jobs.ts'
import { CommandFailed, defineCommand, readId } from '../command.ts'

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
  show: (asked) => `${asked.length} of them will be tried again by the pipeline`,
})
