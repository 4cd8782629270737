import { expect, test } from 'vitest'
import { keyName } from '../../web/dashboard/shell/key-name.ts'

test('shortcuts go by the letter, and by the place of the key where the layout is of another script', () => {
  const namesOf = (...keys: [key: string, code: string][]) => keys.map(([key, code]) => keyName({ key, code }))
  expect(namesOf(['D', 'KeyD'], ['q', 'KeyA'], ['ß', 'Minus'])).toEqual(['d', 'q', 'ß'])
  expect(namesOf(['в', 'KeyD'], ['ש', 'KeyA'], ['ั', 'KeyY'], ['ж', 'Semicolon'])).toEqual(['d', 'a', 'y', 'ж'])
  expect(namesOf(['.', 'Slash'], ['?', 'Digit7'], ['Escape', 'Escape'])).toEqual(['.', '?', 'escape'])
})
