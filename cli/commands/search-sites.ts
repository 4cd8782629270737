/** Properties of Google Search Console: connected, listed, disconnected. */
import { readFileSync } from 'node:fs'
import { ProviderError } from '../../pipeline/publishing/adapter.ts'
import { googleDispatcher } from '../../pipeline/search/pull-sites.ts'
import { demandReadable } from '../../pipeline/search/search-console.ts'
import { askAccessToken, type ServiceAccount, serviceAccountIn } from '../../pipeline/search/service-account.ts'
import type { Queryable } from '../../postgres/client.ts'
import {
  connectSearchSite,
  disconnectSearchSite,
  listSearchSites,
  type SearchSite,
  searchStateOf,
} from '../../postgres/tables/figures/search-sites.ts'
import { lockWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { systemClock } from '../../runtime/clock.ts'
import type { Config } from '../../runtime/config.ts'
import { makeSecretBox, searchKeysPurpose } from '../../runtime/crypto/secret-box.ts'
import { searchCredentialsBytesMax, searchSiteLengthMax, searchSitesMax } from '../../schemas/limits/search-limits.ts'
import { searchSiteOf, sitesOverlap } from '../../schemas/search-site.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, type OptionValues, readId, UsageError, workspaceOption } from '../command.ts'
import { tableOr } from '../table.ts'

export const connectSearch = defineCommand({
  name: 'search connect',
  summary: 'Connect a property of Google Search Console, or renew the connection of one that there is.',
  options: {
    workspace: workspaceOption,
    site: {
      value: 'SITE',
      meaning: 'The property: sc-domain:example.com, or https://www.example.com/ where it is a URL prefix.',
      isRequired: true,
    },
    credentials: {
      value: 'FILE',
      meaning: "The JSON file of a service account's key; /dev/stdin takes it from a pipe.",
      isRequired: true,
    },
  },
  async run({ options, installation, signal }) {
    const id = options.id('workspace')
    const site = siteIn(options)
    const account = accountIn(options.text('credentials')!)
    const secretKey = await installation.secretKey()
    if (!secretKey) throw new CommandFailed('SECRET_KEY must be set: the key is stored encrypted with it')
    const { id: workspaceId } = await installation.workspace(id)
    await requireRoom(installation.postgres(), workspaceId, site)
    await tryOut(account, site, installation.config, signal)
    const sealed = makeSecretBox(secretKey, searchKeysPurpose).seal(JSON.stringify(account))
    return installation.postgres().transaction(async (tx) => {
      await lockWorkspace(tx, workspaceId)
      const isRenewed = await requireRoom(tx, workspaceId, site)
      const now = new Date(systemClock.now())
      const connected = await connectSearchSite(tx, {
        workspaceId,
        site,
        account: account.client_email,
        sealed,
        now,
      })
      const metadata = { site, account: account.client_email, is_renewed: isRenewed }
      await auditCommand(tx, workspaceId, 'search_site.connect', connected.id, metadata)
      return shownSite(connected)
    })
  },
  show: ({ site_id, site }) => `site ${site_id}: ${site}\n  its first figures come within minutes`,
})

function siteIn(options: OptionValues): string {
  const given = options.text('site', searchSiteLengthMax)!
  const site = searchSiteOf(given)
  if (site !== undefined) return site
  throw new UsageError(`--site must be sc-domain:example.com or the URL of a property, got \`${given}\``)
}

function accountIn(file: string): ServiceAccount {
  const account = serviceAccountIn(readText(file))
  if (account !== undefined) return account
  throw new CommandFailed("--credentials is not the JSON file of a service account's key")
}

function readText(file: string): string {
  try {
    const text = readFileSync(file)
    if (text.length <= searchCredentialsBytesMax) return text.toString('utf8')
  } catch (error) {
    throw new CommandFailed(`--credentials can't be read: ${(error as Error).message}`)
  }
  throw new CommandFailed(`--credentials must have at most ${searchCredentialsBytesMax / 1024} KiB`)
}

/** Asks Google for the property by the key. */
async function tryOut(
  account: ServiceAccount,
  site: string,
  { allowPrivateTargets }: Pick<Config, 'allowPrivateTargets'>,
  signal: AbortSignal,
): Promise<void> {
  const reach = { clock: systemClock, dispatcher: googleDispatcher(allowPrivateTargets), signal }
  try {
    await demandReadable({ ...reach, site, token: await askAccessToken(account, reach) })
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw new CommandFailed(`${error.message} (as ${account.client_email})`)
  } finally {
    await reach.dispatcher?.close()
  }
}

/** @returns whether the workspace has the site. @throws CommandFailed where it can't have it beside the others */
async function requireRoom(tx: Queryable, workspaceId: number, site: string): Promise<boolean> {
  const others = (await listSearchSites(tx, workspaceId)).map((one) => one.site)
  if (others.includes(site)) return true
  const other = others.find((one) => sitesOverlap(one, site))
  if (other !== undefined)
    throw new CommandFailed(`${other} is connected and has pages of ${site}: they would count twice`)
  if (others.length >= searchSitesMax) {
    throw new CommandFailed(`the workspace has ${searchSitesMax} sites, as many as it may have`)
  }
  return false
}

function shownSite(one: SearchSite) {
  const { id, site, account, pulled_at, data_through, last_error } = one
  return {
    site_id: id,
    site,
    account,
    state: searchStateOf(one),
    pulled_at: pulled_at?.toISOString() ?? null,
    data_through,
    last_error,
  }
}

export const listSearch = defineCommand({
  name: 'search list',
  summary: 'List the properties of Search Console that a workspace has connected, oldest first; keys are not shown.',
  options: { workspace: workspaceOption },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    return (await listSearchSites(installation.postgres(), workspace.id)).map(shownSite)
  },
  show: (sites) =>
    tableOr(
      'no sites',
      ['id', 'site', 'service account', 'state', 'data through', 'last error'],
      sites.map(({ site_id, site, account, state, data_through, last_error }) => [
        String(site_id),
        site,
        account,
        state.replaceAll('_', ' '),
        data_through ?? 'none',
        last_error ?? '',
      ]),
    ),
})

export const disconnectSearch = defineCommand({
  name: 'search disconnect',
  summary: 'Disconnect a property by its id: its key is deleted, and its search terms are shown no more.',
  argument: 'ID',
  options: {},
  async run({ argument, installation }) {
    const id = readId(argument, 'ID')
    return installation.postgres().transaction(async (tx) => {
      const gone = await disconnectSearchSite(tx, id)
      if (gone === null) throw new CommandFailed(`there is no site ${id}`)
      await auditCommand(tx, gone.workspace_id, 'search_site.disconnect', id, { site: gone.site })
      return { site_id: id, site: gone.site }
    })
  },
  show: ({ site_id, site }) => `site ${site_id} disconnected: ${site}`,
})
