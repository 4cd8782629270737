import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedFile, generateValidators } from '../../schemas/generate.ts'

test('the committed validators are what the schemas say: else run `npm run generate`', async () => {
  expect(readFileSync(generatedFile, 'utf8')).toBe(await generateValidators())
})
