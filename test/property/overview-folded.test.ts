/**
 * Every figure of the overview equals the oracle's (test/oracle) however the events were folded. Events come in one
 * fold or several, in any order, with days that have cells already. `SEED=n` repeats a run, `RUNS=n` sets its length.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { casesOfTwoTimezones, overviewCases } from '../oracle/cases.ts'
import { day } from '../oracle/facts.ts'
import { closeDaysAt, foldAll } from '../support/fold.ts'
import { isLong, seed } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { creditServers, judge, type PlacedCase } from './ask-overview.ts'
import { placeInPortions } from './folded-cases.ts'

const runs = Number(process.env['RUNS'] ?? (isLong ? 3000 : 50))
/** Folded together. */
const chunk = 50
/** In short each case is asked about at one of the four stages, so that each stage has its share of them. */
const stagesApart = isLong ? 1 : 4
const portionsEach = isLong ? 3 : 2
/** Events of one of the second portion's folds: it comes in several. */
const foldEvents = isLong ? 400 : 1500

const stores = setUpStores({ hasYearlyParts: true })

async function expectFigures(
  placed: readonly PlacedCase[],
  isThere: (event: { id: number }) => boolean,
  stage: { readonly nth: number; readonly name: string },
) {
  for (const [at, one] of placed.entries()) {
    if ((at + stage.nth) % stagesApart !== 0) continue
    const facts = { ...one, events: one.events.filter(isThere) }
    const name = `SEED=${seed}, case ${at}, ${stage.name}, ${one.timezone}, ${JSON.stringify(one.query)}`
    expect((await judge(stores, one, facts)).faults, name).toEqual([])
  }
}

test('every figure of the overview equals an independent computation however its events were folded', {
  timeout: isLong ? 7_200_000 : 600_000,
}, async () => {
  // overview.test.ts has all timezones in short, too.
  const cases = fc.sample(isLong ? overviewCases : casesOfTwoTimezones, { seed, numRuns: runs })
  for (let from = 0; from < cases.length; from += chunk) {
    const { placed, portions } = await placeInPortions(stores, cases.slice(from, from + chunk), portionsEach)
    for (const [at, portion] of portions.entries()) {
      const lastId = await portion.insert()
      await foldAll(stores, at === 1 ? foldEvents : undefined)
      await creditServers(stores)
      const name = `chunk ${from}, portion ${at}`
      await expectFigures(placed, ({ id }) => id <= lastId, { nth: 2 * at, name })
      // Days of some cases are over then, and of others all are: what comes later is late for their cells.
      const nows = placed.map(({ now }) => now).sort((a, b) => a - b)
      await closeDaysAt(stores, at === 0 ? nows[Math.floor(nows.length / 2)]! : nows.at(-1)! + 3 * day)
      await expectFigures(placed, ({ id }) => id <= lastId, { nth: 2 * at + 1, name: `${name}, days closed` })
    }
  }
})
