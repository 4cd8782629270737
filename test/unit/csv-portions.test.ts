import { expect, test } from 'vitest'
import { linkFileBytesMax, linkFileRowsMax, linksImportedMax } from '../../schemas/limits/api-limits.ts'
import { fileBytesMax, fileRowsMax, portionRows, portionsOf, textOf } from '../../web/dashboard/links/csv-portions.ts'

test('a file is divided between rows and not within quotes, and each portion begins with the names', () => {
  const rows = Array.from({ length: portionRows + 1 }, (_, at) => `${at},"a\n""b"""`)
  const portions = portionsOf(['x,y', ...rows, '', ''].join('\r\n'))
  expect(portions).toEqual([['x,y', ...rows.slice(0, portionRows)].join('\n'), `x,y\n${rows.at(-1)}`])
})

test('lines may end as on a Macintosh, and text of another encoding is none', () => {
  expect(portionsOf('x,y\ra,b\rc,"d\re"\r')).toEqual(['x,y\na,b\nc,"d\ne"'])
  expect([textOf(Buffer.from('\ufeffü')), textOf(Buffer.from('ü', 'latin1'))]).toEqual(['ü', undefined])
})

test('rows of empty cells count as none, above the names and below the rows', () => {
  expect(portionsOf(`,\nx,y\na,b\n${'"",\n'.repeat(fileRowsMax + 1)}`)).toEqual(['x,y\na,b'])
})

test('long rows make portions of fewer, and a file without rows makes none', () => {
  const row = 'a'.repeat(200_000)
  expect(portionsOf(`x\n${row}\n${row}`)).toEqual([`x\n${row}`, `x\n${row}`])
  expect([portionsOf('x\n'), portionsOf('')]).toEqual([[], []])
})

test('a quote within a cell opens none, and those that do follow the delimiter of the names', () => {
  const rows = Array.from({ length: fileRowsMax }, (_, at) => `A 5" screen;"",""${at};"x;\n""y"""`)
  const portions = portionsOf(['"a,b"",c";d;e', ...rows].join('\n'))
  expect(portions?.map((portion) => portion.split('A 5').length - 1)).toEqual(Array(20).fill(portionRows))
})

test('the limits are those of the API and of the command line, and a file with more rows has no portions', () => {
  expect([portionRows, fileRowsMax, fileBytesMax]).toEqual([linksImportedMax, linkFileRowsMax, linkFileBytesMax])
  expect(portionsOf('x\n'.repeat(fileRowsMax + 1))).toHaveLength(fileRowsMax / portionRows)
  expect(portionsOf('x\n'.repeat(fileRowsMax + 2))).toBeNull()
})
