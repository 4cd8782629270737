/** Connections to payment providers: made, listed, ended. */
import { randomBytes } from 'node:crypto'
import { isSecretShaped } from '../../api/revenue/signatures.ts'
import {
  disconnectRevenue,
  insertRevenueConnection,
  listRevenueConnections,
  replaceRevenueSecret,
} from '../../postgres/tables/revenue/revenue-connections.ts'
import { lockWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { makeSecretBox, revenueSecretsPurpose } from '../../runtime/crypto/secret-box.ts'
import { revenueConnectionsMax } from '../../schemas/limits/revenue-limits.ts'
import { type RevenueProvider, revenueProviders } from '../../schemas/revenue.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, type OptionValues, readId, UsageError, workspaceOption } from '../command.ts'
import { readSecret, secretFileOption } from '../read-secret.ts'
import { tableOr } from '../table.ts'

export const connectRevenue = defineCommand({
  name: 'revenue connect',
  summary:
    'Connect a payment provider: shows the address that it is to send its events to, and once the secret that signs them.',
  options: {
    workspace: workspaceOption,
    provider: { value: 'P', meaning: `One of ${revenueProviders.join(', ')}.`, isRequired: true },
    secret: { value: 'S', meaning: 'What the provider signs its events with; a new one is made when left out.' },
    'secret-file': secretFileOption,
    connection: { value: 'ID', meaning: 'Replace the secret of this connection instead of making another.' },
  },
  async run({ options, installation }) {
    const id = options.id('workspace')
    const provider = options.oneOf('provider', revenueProviders)!
    const secret = secretOf(options, provider)
    const connection = options.text('connection')
    const connectionId = connection === undefined ? undefined : readId(connection, '--connection')
    const secretKey = await installation.secretKey()
    if (!secretKey) throw new CommandFailed('SECRET_KEY must be set: the secret is stored encrypted with it')
    const { id: workspaceId } = await installation.workspace(id)
    const root = installation.publicUrl()
    const sealed = makeSecretBox(secretKey, revenueSecretsPurpose).seal(secret)
    const made = await installation.postgres().transaction(async (tx) => {
      await lockWorkspace(tx, workspaceId)
      if (
        connectionId === undefined &&
        (await listRevenueConnections(tx, workspaceId)).length >= revenueConnectionsMax
      ) {
        throw new CommandFailed(`the workspace has ${revenueConnectionsMax} connections, as many as it may have`)
      }
      const connected =
        connectionId === undefined
          ? await insertRevenueConnection(tx, workspaceId, provider, sealed)
          : await replaceRevenueSecret(tx, { id: connectionId, workspaceId, provider }, sealed)
      if (connected === null) {
        throw new CommandFailed(`the workspace has no connection ${connectionId} to ${provider}`)
      }
      const metadata = { provider, is_renewed: connectionId !== undefined }
      await auditCommand(tx, workspaceId, 'revenue_connection.connect', connected.id, metadata)
      return connected
    })
    return { connection_id: made.id, provider, url: `${root}/api/v1/growth/revenue/${provider}/${made.id}`, secret }
  },
  show: ({ connection_id, provider, url, secret }) => {
    const shown = `connection ${connection_id}\n  address  ${url}\n  secret   ${secret}  (shown this once)`
    return provider === 'custom' ? `${shown}\n${uniqueIds}` : shown
  },
})

const uniqueIds = 'Ids of payments must be unique over all custom connections of the workspace.'

function secretOf(options: OptionValues, provider: RevenueProvider): string {
  const secret = readSecret(options) ?? newSecrets[provider]()
  if (isSecretShaped(provider, secret)) return secret
  throw new UsageError(
    provider === 'custom'
      ? '--secret must be `whsec_` and 24 to 64 bytes in base64'
      : '--secret must have 6 to 255 printable characters without blanks',
  )
}

const standardSecret = () => `whsec_${randomBytes(32).toString('base64')}`
/** Lemon Squeezy takes at most 40 characters. */
const hexSecret = () => randomBytes(20).toString('hex')

const newSecrets: Readonly<Record<RevenueProvider, () => string>> = {
  stripe: standardSecret,
  paddle: hexSecret,
  lemonsqueezy: hexSecret,
  custom: standardSecret,
}

export const listRevenue = defineCommand({
  name: 'revenue list',
  summary: 'List the connections of a workspace to payment providers, newest first; secrets are not shown.',
  options: { workspace: workspaceOption },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    const connections = await listRevenueConnections(installation.postgres(), workspace.id)
    return connections.map(({ id, provider, created_at }) => ({
      connection_id: id,
      provider,
      created_at: created_at.toISOString(),
    }))
  },
  show: (connections) =>
    tableOr(
      'no connections',
      ['id', 'provider', 'since'],
      connections.map(({ connection_id, provider, created_at }) => [String(connection_id), provider, created_at]),
    ),
})

export const disconnectRevenueProvider = defineCommand({
  name: 'revenue disconnect',
  summary: 'Disconnect a payment provider by the id of its connection: its events are refused, what it recorded stays.',
  argument: 'ID',
  options: {},
  async run({ argument, installation }) {
    const id = readId(argument, 'ID')
    return installation.postgres().transaction(async (tx) => {
      const gone = await disconnectRevenue(tx, id)
      if (gone === null) throw new CommandFailed(`there is no connection ${id}`)
      const { workspace_id, provider } = gone
      await auditCommand(tx, workspace_id, 'revenue_connection.disconnect', id, { provider })
      return { connection_id: id, provider }
    })
  },
  show: ({ connection_id, provider }) => `connection ${connection_id} to ${provider} disconnected`,
})
