/** A list as a file for spreadsheets. */
import { expect, test } from 'vitest'
import { csvOf } from '../../web/dashboard/parts/csv.ts'

test('texts are quoted where they have to be, and none is a formula', () => {
  const rows = ['plain', 'a,b', 'say "hi"', 'two\nlines', '=1+1', '@SUM(A1)', '-x', '＝1', '\n=1', 'a;=1', 'a\t=1'].map(
    (label, n) => ({
      key: label,
      label,
      figures: { visitors: n, bounce_rate: 12.5 },
    }),
  )
  expect(csvOf({ title: 'Sources', columns: ['visitors', 'bounce_rate'] }, rows, 'USD').split('\r\n')).toEqual([
    'Sources,Visitors,Bounce rate',
    'plain,0,12.5',
    '"a,b",1,12.5',
    '"say ""hi""",2,12.5',
    '"two\nlines",3,12.5',
    "'=1+1,4,12.5",
    "'@SUM(A1),5,12.5",
    "'-x,6,12.5",
    "'＝1,7,12.5",
    `"'\n=1",8,12.5`,
    '"a;=1",9,12.5',
    '"a\t=1",10,12.5',
    '',
  ])
})
