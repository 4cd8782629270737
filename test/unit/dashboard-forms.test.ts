/** Forms of the dashboard send what was changed in them: somebody else may have changed the rest meanwhile. */
import { expect, test } from 'vitest'
import { channelChanges, fieldsIn } from '../../web/dashboard/settings/channel-fields.ts'

const given = { sent_at: null, has_failed: false, asked: null }
const channel = {
  name: '#marketing',
  conversion_names: ['signup'],
  // The API has them in another order than the form.
  contents: (['alerts', 'weekly'] as const).map((content, at) => ({ recipient_id: at + 1, content, ...given })),
}

function changesBy(name: string, contents: readonly string[], conversionNames: readonly string[]): unknown {
  const data = new FormData()
  data.set('name', name)
  for (const content of contents) data.append('contents', content)
  return channelChanges(fieldsIn(data, conversionNames), channel)
}

test('the form of a chat channel sends the name, the contents or the conversions, whichever was changed', () => {
  expect(changesBy('#marketing', ['weekly', 'alerts'], ['signup'])).toEqual({})
  expect(changesBy('#sales', ['weekly', 'alerts'], ['signup'])).toEqual({ name: '#sales' })
  expect(changesBy('#marketing', ['weekly'], ['signup'])).toEqual({ contents: ['weekly'] })
  expect(changesBy('#marketing', ['weekly', 'alerts'], [])).toEqual({ conversion_names: [] })
})
