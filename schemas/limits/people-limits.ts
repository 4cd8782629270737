/** Bounds of people: their merge, their pages and journeys. */
import { day, second } from './units.ts'

/** Browsers of one contact, those identified first. Further ones stay visitors of their own. */
export const browsersPerContactMax = 200
/** Facts on further browsers are forgotten. Those between may move up where a contact loses a browser. */
export const browsersKnownPerContactMax = 2_000
/** A browser's binding periods, the earliest: each is its time with one contact. Facts behind them are forgotten, and the last one goes on. */
export const bindingPeriodsPerBrowserMax = 100
/** Identity facts of one browser, the earliest: more than any browser's people need, and few enough to be read at each merge. */
export const factsPerBrowserMax = 20_000
/** Inbox rows of one transaction of the merge. */
export const inboxRowsPerMerge = 2_000
/** Inbox rows that an erasure merges in its own transaction, before it is looked who the person is. */
export const inboxRowsPerErasure = 3 * inboxRowsPerMerge
/** Merges of one row alone that pass the deadline of a statement, before it is set aside. */
export const mergeTriesOfRow = 3
/** Between two looks for rows that an operator wants to be merged after all. */
export const mergeRetriesEveryMs = 10_000
/** Between two merges, while less than that waits. */
export const mergeEveryMs = 500
/** Work items on people of one round, and contacts of one statement. */
export const peopleWorkMax = 2_000
export const contactsPerStatement = 500
/** A contact that has more keeps the figures it had. Contacts of one statement have no more together. */
export const eventsPerContactMax = 1_000_000
/** Time for contacts' figures between two folds; the first batch is always computed. Others wait until after the next fold. */
export const contactsPerRefreshMs = 2 * second
/** Earlier events of newly bound browsers copied between two folds. A browser with more is the only one of its round. */
export const pastEventsPerRefresh = 2_000_000
/** Only a contact's newest conversions are credited to its touches; older ones by their own browser or event. */
export const personCreditsPerContactMax = 10_000

/** People: rows of a page, events of a journey, letters of a search. */
export const peopleDefault = 100
export const peopleMax = 250
export const journeyEventsDefault = 200
export const journeyEventsMax = 500
export const peopleSearchLengthMax = 200
/** Newest contacts that a search without three letters or digits in a row looks at: no index serves such a text. */
export const shortSearchContactsMax = 10_000
/** How long an erasure is remembered. Events that were answered before it arrive within this time. */
export const erasureKeepMs = 30 * day
