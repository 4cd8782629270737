/** Members of a workspace and open invitations, as the dashboard shows them: the link itself only when one is made. */
import { z } from 'zod'
import { givenRoles } from '../roles.ts'
import { manageScope, ownScope, publishScope, scopes } from '../scopes.ts'
import { dateTime } from './date-time.ts'
import { emailAddress } from './report-recipient.ts'

const givenRole = z.enum(givenRoles)
const role = z.enum(['owner', ...givenRoles])

/** A workspace of whoever is signed in: `scopes` are those of the role there. */
export const JoinedWorkspace = z.object({
  id: z.int(),
  name: z.string(),
  role,
  scopes: z.array(z.enum([...scopes, publishScope, manageScope, ownScope])),
  /** The session is in it. Also said where the plan has lapsed, and nothing else is. */
  is_current: z.boolean(),
})

/** No address of `.invalid` (RFC 2606): an owner without an e-mail has one, which pages show as the owner. */
export const InvitationCreate = z.object({
  email: emailAddress.refine((text) => !/\.invalid$/i.test(text), 'Nobody has an address that ends with .invalid'),
  role: givenRole,
})

export const MemberUpdate = z.object({ role: givenRole })

export const Members = z.object({
  members: z.array(
    z.object({
      id: z.int(),
      email: z.string(),
      role,
      added_at: dateTime,
      has_second_factor: z.boolean(),
      /** Keys, shared links and connected apps that the member made here, and that end with a removal. */
      keys: z.int(),
      /** Whoever asks. */
      is_self: z.boolean(),
    }),
  ),
  invitations: z.array(
    z.object({
      id: z.int(),
      email: z.string(),
      role: givenRole,
      created_at: dateTime,
      expires_at: dateTime,
      /** How far the mail with its link is; null where none was to be sent. */
      mail: z.enum(['waiting', 'sent', 'failed']).nullable(),
    }),
  ),
  /** Members without one are refused. */
  is_second_factor_required: z.boolean(),
  /** Invitations are mailed, too. */
  is_mail_set_up: z.boolean(),
})

/** Without the address: answers are kept for retries. */
export const CreatedInvitation = z.object({ id: z.int(), url: z.string() })
