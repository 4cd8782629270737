/** A funnel is read from its address as it was written, and asks the API for just that. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { parsePart } from '../../schemas/errors/zod-errors.ts'
import { makeFigureTexts } from '../../schemas/figure-texts.ts'
import { funnelParameters, readStep } from '../../schemas/funnel-steps.ts'
import { funnelStepsMax, funnelStepsMin } from '../../schemas/limits/overview-limits.ts'
import * as page from '../../web/dashboard/funnels/funnel-address.ts'
import { fittingMoney, revenueText, span } from '../../web/dashboard/parts/format.ts'
import { filterOf, readView } from '../../web/dashboard/view/address.ts'
import { seed } from '../support/short-form.ts'

const { funnelQuestionOf, readFunnel, typedValue, withins, writeFunnel } = page
const funnels: fc.Arbitrary<page.FunnelView> = fc.record({
  steps: fc.array(
    fc.record({
      kind: fc.constantFrom('path' as const, 'event' as const),
      value: fc
        .oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.constantFrom('/a&step=path:/b', 'a\nb', '!x', '*'))
        .filter((text) => text.trim() !== ''),
    }),
    { minLength: funnelStepsMin, maxLength: funnelStepsMax },
  ),
  within: fc.constantFrom(...Object.keys(withins), '5'),
})
const query = z.object(funnelParameters)

test('a funnel is read from its address as it was written, with range and filters beside it', () => {
  fc.assert(
    fc.property(
      funnels,
      fc.constantFrom('', '?days=7&path=%2Fa', '?start=2026-01-01&end=2026-01-31&event=%21x'),
      (funnel, search) => {
        const view = readView(search)
        const address = new URL(writeFunnel(view, funnel), 'http://localhost')
        expect(address.pathname).toBe('/dashboard/funnels')
        expect(readFunnel(address.search)).toEqual(funnel)
        expect(readView(address.search)).toEqual(view)
      },
    ),
    { seed },
  )
})

test('what is typed, or taken from the suggestions, is what the API takes', () => {
  fc.assert(
    fc.property(funnels, ({ steps, within }) => {
      const typed = steps.map(({ kind, value }) => ({ kind, value: typedValue(value) }))
      const asked = new URLSearchParams(funnelQuestionOf(readView(''), { steps: typed, within })!.split('?')[1])
      const parsed = parsePart('query', query, { step: asked.getAll('step'), within: asked.get('within') ?? undefined })
      // More wildcards than may be, and no others, are refused.
      if (!parsed.ok) return expect(JSON.stringify(parsed.errors)).toContain('wildcards')
      expect(parsed.value).toEqual({ step: typed.map(({ kind, value }) => `${kind}:${value}`), within })
    }),
    { seed },
  )
  for (const name of ['/a*b', '!x', 'a\\b', ' a ']) {
    expect(readStep(`event:${typedValue(filterOf('event', name).value)}`)?.pattern).toEqual({
      isNot: false,
      texts: [name],
    })
  }
})

test('what is no funnel is as if it were not there, and one step asks for nothing', () => {
  expect(readFunnel('?step=/a&step=path:&step=event:b&within=31')).toEqual({
    steps: [{ kind: 'event', value: 'b' }],
    within: '7',
  })
  expect(funnelQuestionOf(readView(''), readFunnel('?step=path:/'))).toBeUndefined()
  expect(readFunnel(`?${'step=path:/&'.repeat(9)}`).steps).toHaveLength(funnelStepsMax)
})

test('spans are told by their largest units', () => {
  expect([1.4, 150, 5_400, 86_399, 200_000].map(span)).toEqual(['1s', '2m 30s', '1h 30m', '1d 0h', '2d 8h'])
  expect([3_599, 3_600, 73_011].map(makeFigureTexts().duration)).toEqual(['59m 59s', '1h 0m', '20h 17m'])
})

test('an amount is told exactly where a card has room for it', () => {
  const told = [0, 1, 1_234_567, 12_345_678, -123_400_000_000_000].map((cents) => fittingMoney(cents, 'USD'))
  expect(told).toEqual(['$0.00', '$0.01', '$12,345.67', '$123.5K', '-$1.2T'])
  expect(fittingMoney(999_999_100_500, 'JPY')).toBe('¥1T')
})

test('revenue names the amounts that no exchange rate converts, which may be all of it', () => {
  const text = (revenue_cents: number, revenue_by_currency: Record<string, number>) =>
    revenueText({ revenue_cents, revenue_by_currency }, 'USD')
  expect([text(0, {}), text(0, { EUR: 1_200 }), text(500, { EUR: 1_200 })]).toEqual([
    '$0.00',
    '€12.00',
    '$5.00, €12.00',
  ])
})
