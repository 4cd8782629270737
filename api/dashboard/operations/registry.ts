/** The operations that no key may call: only a session, within its role. Tests take them from here. */
import type { SecretBox } from '../../../runtime/crypto/secret-box.ts'
import type { Operation } from '../../operations/define.ts'
import { makeSignInOperations } from './account-sign-ins.ts'
import { createOwnKey, listOwnKeys, revokeOwnKey } from './api-keys.ts'
import { chatChannelOperations } from './chat-channels.ts'
import { disconnectApp, listApps } from './connected-apps.ts'
import { eraseThisPerson } from './erase-person.ts'
import { readAllWorkspaces } from './glance.ts'
import { makeMemberOperations } from './members.ts'
import { readOwnLists } from './own-lists.ts'
import { previewFeed } from './preview-feed.ts'
import { reportRecipientOperations } from './report-recipients.ts'
import { requireFactor } from './require-second-factor.ts'
import { createSharedLink, listSharedLinks, revokeSharedLink } from './shared-links.ts'
import { type Connecting, makeAccountOperations } from './social-accounts.ts'
import { trafficAlertOperations } from './traffic-alerts.ts'
import {
  createOwnWorkspace,
  type DemoStores,
  listOwnWorkspaces,
  makeFillDemo,
  readOwnWorkspace,
  updateOwnWorkspace,
} from './workspaces.ts'

/** @param mailBox seals the tokens of links that mails carry */
export function makeSessionOperations(
  stores: DemoStores,
  mailBox: SecretBox,
  connecting: Connecting,
): readonly Operation[] {
  return [
    eraseThisPerson,
    listOwnKeys,
    createOwnKey,
    revokeOwnKey,
    listApps,
    disconnectApp,
    listSharedLinks,
    createSharedLink,
    revokeSharedLink,
    listOwnWorkspaces,
    readAllWorkspaces,
    createOwnWorkspace,
    readOwnWorkspace,
    updateOwnWorkspace,
    requireFactor,
    readOwnLists,
    previewFeed,
    ...reportRecipientOperations,
    ...chatChannelOperations,
    ...trafficAlertOperations,
    ...makeMemberOperations(mailBox),
    makeFillDemo(stores),
    ...makeAccountOperations(connecting),
    ...makeSignInOperations(connecting),
  ]
}
