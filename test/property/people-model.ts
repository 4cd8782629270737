/**
 * Who is who, and their acts, computed a second time from docs/people.md. The model is slow, reads all events at once,
 * and shares no code with the product.
 */

export interface ModelEvent {
  /** That the tracking interface gave it. */
  readonly id: number
  readonly at: number
  readonly browser: string | null
  readonly session: string | null
  readonly email: string | null
  readonly isIdentity: boolean
  readonly isConversion: boolean
  readonly name: string
  readonly source: string | null
}

export interface ModelPerson {
  /** The e-mail, or the browser's id. */
  readonly who: string
  readonly browsers: string[]
  readonly name: string
  readonly sessions: number
  readonly events: number
  readonly conversions: number
  readonly firstAt: number
  readonly lastAt: number
  readonly firstSource: string
  readonly lastSource: string
  /** Newest first. */
  readonly ids: number[]
}

/** The workspace's clock, which has no summer time. */
export const timezone = 'Asia/Kolkata'
const dayOf = ({ at }: ModelEvent) => Math.floor((at + 5.5 * 3_600_000) / 86_400_000)

/** Limits for one browser: binding periods, and claims, that count. */
export interface ModelLimits {
  readonly periodsMax: number
  readonly factsMax: number
}

const earlier = (a: ModelEvent, b: ModelEvent) => a.at - b.at || a.id - b.id

/**
 * Sources that conversions are credited to, by the event's id: the last one of their person before, else of the first event
 * of their session, on the day before or else on their own. `direct` where there is none.
 */
export function creditsOf(events: readonly ModelEvent[], limits: ModelLimits): Map<number, string> {
  const people = peopleOf(events, limits)
  const inOrder = [...events].sort(earlier)
  const credits = new Map<number, string>()
  for (const [place, conversion] of inOrder.entries()) {
    if (!conversion.isConversion) continue
    const { ids } = people.find((person) => person.ids.includes(conversion.id))!
    const touch = inOrder.slice(0, place + 1).findLast((one) => ids.includes(one.id) && one.source !== null)
    const isOfSession = (one: ModelEvent) =>
      conversion.browser !== null && one.browser === conversion.browser && one.session === conversion.session
    const firstOn = (day: number) => inOrder.find((one) => isOfSession(one) && dayOf(one) === day)
    const day = dayOf(conversion)
    credits.set(conversion.id, (touch ?? firstOn(day - 1) ?? firstOn(day))?.source ?? 'direct')
  }
  return credits
}

/** How many of a browser's conversions its own touches would credit otherwise. */
export function countOthersCredits(events: readonly ModelEvent[], limits: ModelLimits): number {
  const nobody = events.map((event) => ({ ...event, email: null }))
  const alone = creditsOf(
    nobody.filter(({ browser }) => browser !== null),
    limits,
  )
  return [...creditsOf(events, limits)].filter(([id, source]) => (alone.get(id) ?? source) !== source).length
}

/** Claims that come too late in their browser's life to say whose it is. */
export function countForgotten(events: readonly ModelEvent[], limits: ModelLimits): number {
  const all = claimsAmong([...events].sort(earlier))
  return all.length - counting(all, limits).length
}

function claimsAmong(inOrder: readonly ModelEvent[]): ModelEvent[] {
  return inOrder.filter(({ isIdentity, email, browser }) => isIdentity && email !== null && browser !== null)
}

/** @param claims in order of time */
function counting(claims: readonly ModelEvent[], { periodsMax, factsMax }: ModelLimits): ModelEvent[] {
  return claims.filter((claim, place) => {
    const past = claims.slice(0, place + 1).filter(({ browser }) => browser === claim.browser)
    const changes = past.filter(({ email }, nth) => nth > 0 && past[nth - 1]!.email !== email)
    return past.length <= factsMax && changes.length < periodsMax
  })
}

/** A session that is silent for a whole day counts anew. */
function countSessions(own: readonly ModelEvent[]): number {
  const keyOf = ({ browser, session }: ModelEvent, day: number) => `${browser} ${session} ${day}`
  const inBrowsers = own.filter(({ browser }) => browser !== null)
  const days = new Set(inBrowsers.map((event) => keyOf(event, dayOf(event))))
  return new Set(inBrowsers.filter((e) => !days.has(keyOf(e, dayOf(e) - 1))).map((e) => keyOf(e, dayOf(e)))).size
}

export function peopleOf(events: readonly ModelEvent[], limits: ModelLimits): ModelPerson[] {
  const inOrder = [...events].sort(earlier)
  const contacts = new Set(inOrder.filter(({ isIdentity, email }) => isIdentity && email !== null).map((e) => e.email!))
  const claims = counting(claimsAmong(inOrder), limits)

  const whose = (event: ModelEvent): string | undefined => {
    if (event.email !== null && contacts.has(event.email)) return event.email
    if (event.browser === null) return undefined
    const ofBrowser = claims.filter(({ browser }) => browser === event.browser)
    const before = ofBrowser.filter((claim) => earlier(claim, event) <= 0)
    return (before.at(-1) ?? ofBrowser[0])?.email ?? event.browser
  }

  // A browser that nobody claims is somebody, with all that it did, whomever the e-mails of its events name.
  const claimed = new Set(claims.map(({ browser }) => browser))
  const unclaimed = inOrder.flatMap(({ browser }) => (browser === null || claimed.has(browser) ? [] : browser))
  const names = new Set([...contacts, ...unclaimed])
  return [...names].map((who) => {
    const own = inOrder.filter((event) => (contacts.has(who) ? whose(event) : event.browser) === who)
    const touches = own.filter(({ source }) => source !== null)
    const named = own.filter(({ isIdentity, email, name }) => isIdentity && email === who && name !== '')
    const newest = Math.max(...named.map(({ at }) => at))
    return {
      who,
      browsers: contacts.has(who)
        ? [...new Set(claims.filter(({ email }) => email === who).map(({ browser }) => browser!))].sort()
        : [who],
      name:
        named
          .filter(({ at }) => at === newest)
          .map(({ name }) => name)
          .sort()
          .at(-1) ?? '',
      sessions: countSessions(own),
      events: own.length,
      conversions: own.filter(({ isConversion }) => isConversion).length,
      firstAt: own[0]!.at,
      lastAt: own.at(-1)!.at,
      firstSource: touches[0]?.source ?? 'direct',
      lastSource: touches.at(-1)?.source ?? 'direct',
      ids: own.map(({ id }) => id).reverse(),
    }
  })
}
