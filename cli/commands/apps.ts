/** The installation's apps at platforms, by which members sign in there to connect social accounts. */
import { listPlatformApps, putPlatformApp, removePlatformApp } from '../../postgres/tables/accounts/platform-apps.ts'
import { makeSecretBox, platformAppsPurpose } from '../../runtime/crypto/secret-box.ts'
import { platformAppIdLengthMax, platformAppScopesLengthMax } from '../../schemas/limits/publish-limits.ts'
import { appPlatforms, signInReturnPath } from '../../schemas/reference/sign-in-platforms.ts'
import { CommandFailed, defineCommand, UsageError } from '../command.ts'
import { readSecret, secretFileOption } from '../read-secret.ts'
import { tableOr } from '../table.ts'

const platformOption = { value: 'P', meaning: `One of ${appPlatforms.join(', ')}.`, isRequired: true } as const

/** It goes into addresses and headers. */
const plainWord = /^[\x21-\x7e]+$/

export const setApp = defineCommand({
  name: 'apps set',
  summary: 'Name the app at a platform by which members sign in there to connect accounts, in place of one before.',
  options: {
    platform: { ...platformOption, meaning: `${platformOption.meaning} That of facebook is for instagram, too.` },
    id: {
      value: 'ID',
      meaning: "The app's public id, as the platform calls it: client ID, app ID, API key.",
      isRequired: true,
    },
    secret: { value: 'S', meaning: "The app's secret." },
    'secret-file': secretFileOption,
    scopes: { value: 'A,B', meaning: 'The scopes to ask for, in place of those that posts need.' },
  },
  async run({ options, installation }) {
    const platform = options.oneOf('platform', appPlatforms)!
    const id = options.text('id', platformAppIdLengthMax)!
    if (!plainWord.test(id)) throw new UsageError('--id must be one word of plain letters')
    const scopes = (options.text('scopes', platformAppScopesLengthMax) ?? '')
      .split(/[\s,]+/)
      .filter((one) => one !== '')
    if (platform === 'x' && scopes.length > 0) throw new UsageError('--scopes is for apps other than that of x')
    if (!scopes.every((scope) => plainWord.test(scope))) throw new UsageError('--scopes must be plain words')
    const secret = readSecret(options)?.trim()
    if (secret === undefined) throw new UsageError('--secret or --secret-file is required')
    if (!plainWord.test(secret)) throw new UsageError('the secret must be one word of plain letters')
    const secretKey = await installation.secretKey()
    if (!secretKey) throw new CommandFailed('SECRET_KEY must be set: the secret is stored encrypted with it')
    const redirect_address = installation.publicUrl() + signInReturnPath
    const app = { platform, client_id: id, scopes }
    const sealed = makeSecretBox(secretKey, platformAppsPurpose).seal(secret)
    await putPlatformApp(installation.postgres(), app, sealed)
    return { ...app, redirect_address }
  },
  show: ({ platform, client_id, redirect_address }) =>
    `app ${client_id} signs in at ${platform}; there its redirect address must be ${redirect_address}`,
})

export const listApps = defineCommand({
  name: 'apps list',
  summary: 'List the apps at platforms, without their secrets.',
  options: {},
  run: ({ installation }) => listPlatformApps(installation.postgres()),
  show: (apps) =>
    tableOr(
      'no apps',
      ['platform', 'id', 'scopes'],
      apps.map(({ platform, client_id, scopes }) => [platform, client_id, scopes.join(' ')]),
    ),
})

export const removeApp = defineCommand({
  name: 'apps remove',
  summary: 'Forget the app at a platform: nobody signs in there by it any more. Connected accounts stay.',
  options: { platform: platformOption },
  async run({ options, installation }) {
    const platform = options.oneOf('platform', appPlatforms)!
    if (await removePlatformApp(installation.postgres(), platform)) return { platform }
    throw new CommandFailed(`there is no app at ${platform}`)
  },
  show: ({ platform }) => `the app at ${platform} is forgotten`,
})
