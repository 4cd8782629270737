/**
 * Whether a crawler is the one that its user agent names. Its address is checked by the lists that the operator
 * publishes, then by the address's host name. docs/bots.md has the rules.
 */
import { isPublicSender } from '../../runtime/outbound/public-address.ts'
import {
  addressListRefutesMs,
  dnsLookUpsPerRequestMax,
  dnsWaitingRequestsMax,
  dnsWaitMs,
} from '../../schemas/limits/bot-limits.ts'
import { type BotCheck, checkOf } from '../../schemas/reference/bot-checks.ts'
import type { AddressLists } from './address-lists.ts'
import { type AddressKey, keyOfAddress } from './address-ranges.ts'
import type { ReverseDns } from './reverse-dns.ts'

export interface Verification {
  /** Null: nothing to check by, or DNS hasn't answered. */
  readonly verified: boolean | null
  readonly method: 'none' | 'ip_range' | 'reverse_dns'
}

/** The parts of a visit that are verified. */
export interface ClaimedIdentity {
  readonly botName: string
  /** Empty where nobody said it. */
  readonly address: string
}

export interface BotVerifier {
  /**
   * Asks about the addresses that only DNS can check. Resolves when it has answered or its time is up. Null: there is
   * nothing to wait for.
   */
  askFor(claims: Iterable<ClaimedIdentity>): Promise<void> | null
  /** By what is known now. */
  verify(claim: ClaimedIdentity, now: number): Verification
}

const notChecked: Verification = { verified: null, method: 'none' }

/** @param dns undefined: nobody is asked */
export function makeBotVerifier({
  lists,
  dns,
}: {
  lists: Pick<AddressLists, 'find'>
  dns: Pick<ReverseDns, 'find' | 'lookUp'> | undefined
}): BotVerifier {
  let waiting = 0

  function isListed(check: BotCheck, key: AddressKey): boolean {
    return check.lists.some((name) => lists.find(name)?.has(key))
  }

  /** The address that DNS has to be asked about, if any. */
  function openQuestion({ botName, address }: ClaimedIdentity): AddressKey | null {
    const check = address === '' ? undefined : checkOf(botName)
    if (dns === undefined || check === undefined || check.hosts.length === 0) return null
    const key = keyOfAddress(address)
    if (key === null || !isPublicSender(address) || isListed(check, key)) return null
    return dns.find(key) === undefined ? key : null
  }

  function askFor(claims: Iterable<ClaimedIdentity>): Promise<void> | null {
    const keys = new Set<AddressKey>()
    for (const claim of claims) {
      const key = openQuestion(claim)
      if (key !== null) keys.add(key)
      if (keys.size >= dnsLookUpsPerRequestMax) break
    }
    if (keys.size === 0 || waiting >= dnsWaitingRequestsMax) return null
    const lookUps = [...keys].flatMap((key) => dns!.lookUp(key) ?? [])
    if (lookUps.length === 0) return null
    waiting++
    return withinWait(Promise.all(lookUps)).finally(() => waiting--)
  }

  return {
    askFor,
    verify: ({ botName, address }, now) => {
      const check = address === '' ? undefined : checkOf(botName)
      const key = check === undefined ? null : keyOfAddress(address)
      if (check === undefined || key === null) return notChecked
      if (isListed(check, key)) return { verified: true, method: 'ip_range' }
      if (dns === undefined || check.hosts.length === 0 || !isPublicSender(address))
        return isRefuted(check, now) ? { verified: false, method: 'ip_range' } : notChecked
      // Lists lag behind the operator's new addresses, so only DNS refutes where it can answer.
      const found = dns.find(key)
      if (found === undefined || found === 'unknown') return notChecked
      const isItsHost = found !== 'none' && check.hosts.some((end) => found.host.endsWith(end))
      return { verified: isItsHost, method: 'reverse_dns' }
    },
  }

  /** Whether all lists are loaded, and recent enough to hold all of the operator's addresses. */
  function isRefuted(check: BotCheck, now: number): boolean {
    if (check.lists.length === 0) return false
    return check.lists.every(
      (name) => now - (lists.find(name)?.date ?? Number.NEGATIVE_INFINITY) <= addressListRefutesMs,
    )
  }
}

function withinWait(work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, dnsWaitMs)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
