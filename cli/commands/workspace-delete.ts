import { createInterface } from 'node:readline/promises'
import { deleteWorkspaces } from '../../pipeline/retention/delete-workspaces.ts'
import { readDeletion, requestDeletion } from '../../postgres/tables/workspace-deletions.ts'
import { makeLog } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { workspaceNameLengthMax } from '../../schemas/limits/api-limits.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, UsageError } from '../command.ts'

const pauseMs = 500

export const deleteWorkspace = defineCommand({
  name: 'workspace delete',
  summary:
    'Delete a workspace with all its data. Its keys and links end at once. It can not be undone. Asked for again, it goes on where it was.',
  options: {
    workspace: { value: 'ID', meaning: 'The workspace.', isRequired: true },
    yes: { value: 'NAME', meaning: "The workspace's name, as a confirmation; without it the name is asked for." },
  },
  async run({ options, installation, progress, signal }) {
    const id = options.id('workspace')!
    const [pg, ch] = [installation.postgres(), installation.clickhouse()]
    if ((await readDeletion(pg, id)) === null) {
      const { name, slug } = await installation.workspace(id)
      const confirmed = options.text('yes', workspaceNameLengthMax) ?? (await askForName(id, name))
      if (confirmed !== name) throw new CommandFailed(`workspace ${id} has another name: nothing was deleted`)
      await pg.transaction(async (tx) => {
        // Somebody else may have asked meanwhile.
        if (await requestDeletion(tx, id)) await auditCommand(tx, id, 'workspace.delete', id, { name, slug })
      })
    }
    for (;;) {
      const { requestedAt, doneAt } = (await readDeletion(pg, id))!
      if (doneAt !== null) return { workspace_id: id, requested_at: requestedAt, deleted_at: doneAt }
      signal.throwIfAborted()
      progress.running('keys and links have ended, and data is being deleted; the pipeline goes on if this stops')
      await deleteWorkspaces({ pg, ch, log: makeLog('svc', 'silent'), signal })
      await sleep(pauseMs, signal)
    }
  },
  show: ({ workspace_id, deleted_at }) => `workspace ${workspace_id} was deleted at ${deleted_at.toISOString()}`,
})

async function askForName(id: number, name: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new UsageError("--yes NAME is required, with the workspace's name, where nobody can be asked")
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-C and Ctrl-D close it, and an answer would be waited for forever.
  const closing = new AbortController()
  asking.once('close', () => closing.abort())
  try {
    const question = `Workspace ${id}, ${name}, goes with all its data. Type its name to delete it: `
    return await asking.question(question, { signal: closing.signal })
  } finally {
    asking.close()
  }
}
