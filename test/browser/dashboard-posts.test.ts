/** Posts that failed, in the dashboard: corrected, duplicated, and told apart by account. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'
import { formOf, formType, png } from '../support/media-files.ts'
import { endedPost, runPublisher, schedulePost } from '../support/publisher.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)
const postOf = async (id: number) => (await ask<ShownPost>('GET', `/v1/posts/${id}`)).body

test('a post that its networks refused is corrected, one that a network shows is duplicated, and both name their accounts', async (context) => {
  const accounts = [
    await makeAccount(stores, mine.workspaceId, 'x'),
    await makeAccount(stores, mine.workspaceId, 'x'),
    await makeAccount(stores, mine.workspaceId, 'mastodon'),
  ]
  const form = formOf({ name: 'file', filename: 'a.png', value: png() })
  const sent = await api.ask('/v1/media', {
    ...{ method: 'POST', key: mine.apiKey, headers: { 'Content-Type': formType }, body: form },
  })
  const media = [((await sent.json()) as { id: number }).id]
  const publisher = runPublisher(stores)
  const [refused, shown] = await Promise.all([
    schedulePost(ask, { title: 'Refused', caption: 'Worng [simulate:fail]', accounts: accounts.slice(0, 2) }),
    schedulePost(ask, {
      ...{ title: 'Shown', caption: 'Right', accounts, media, thread: ['And on'] },
      captions: { mastodon: 'Own [simulate:fail]' },
    }),
  ])
  const ended = await Promise.all([endedPost(ask, refused!), endedPost(ask, shown!)]).finally(() => publisher.close())
  expect(ended.map(({ status }) => status)).toEqual(['failed', 'failed'])

  const page = await signIn(context)
  await page.click('nav >> text=Posts')
  const known = (await ask<{ id: number; handle: string }[]>('GET', '/v1/social-accounts')).body
  const handles = ended[0]!.targets.map(({ social_account_id }) => {
    return `x ${known.find(({ id }) => id === social_account_id)!.handle}`
  })
  const post = (title: string) => page.locator(`${list('Posts')} li.item:has(summary:has-text("${title}"))`)
  await post('Refused')
    .locator(`summary:has-text("${handles.join(', ')}")`)
    .click()
  for (const handle of handles) await post('Refused').locator(`li.target:has-text("${handle}")`).waitFor()
  await post('Refused').getByText('Edit', { exact: true }).click()
  await page.getByLabel('Caption', { exact: true }).fill('Right now')
  await page.click('button:text-is("Save the draft")')
  await page.waitForSelector(`${list('Posts')} summary:has-text("Refused"):has-text("draft")`)
  const draft = { status: 'draft', base_caption: 'Right now', scheduled_at: null }
  expect(await postOf(refused!)).toMatchObject(draft)

  await post('Shown').locator('summary').click()
  const duplicate = post('Shown').getByText('Duplicate', { exact: true })
  await duplicate.waitFor()
  expect(await post('Shown').locator('button').allTextContents()).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/Edit|Delete/)]),
  )
  await duplicate.click()
  await page.getByText('Edit the draft').click()
  await page.fill('text=Title', 'Shown again')
  await page.evaluate(`(() => {
    const files = new DataTransfer()
    for (const name of ['one.png', 'two.png']) {
      files.items.add(new File([Uint8Array.from(${JSON.stringify([...png()])})], name, { type: 'image/png' }))
    }
    const place = [...document.querySelectorAll('fieldset')].find(({ innerText }) => innerText.startsWith('Images'))
    place.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true }))
  })()`)
  for (const file of ['one', 'two']) await page.fill(`text=What ${file}.png shows`, file)
  await page.click('text=Add the files')
  await expect.poll(() => page.locator('.media img').count()).toBe(3)
  await page.click('button:text-is("Save the draft")')
  await page.waitForSelector(`${list('Posts')} summary:has-text("Shown again"):has-text("draft")`)
  await look(page, 'duplicated')
  const [copy] = (await ask<ShownPost[]>('GET', '/v1/posts?limit=1')).body
  const { base_caption, thread, tags, media_ids, targets } = await postOf(shown!)
  expect(copy).toMatchObject({ title: 'Shown again', status: 'draft', base_caption, thread, tags })
  expect(copy!.media_ids.slice(0, 1)).toEqual(media_ids)
  const added = (await ask('GET', '/v1/media?limit=2')).body as { id: number; alt_text: string }[]
  expect(added.map(({ id, alt_text }) => [id, alt_text])).toEqual([
    [copy!.media_ids[2], 'two'],
    [copy!.media_ids[1], 'one'],
  ])

  expect(copy!.targets.map(({ social_account_id: id, caption_override: own, status }) => [id, own, status])).toEqual(
    targets.map(({ social_account_id: id, caption_override: own }) => [id, own, 'draft']),
  )
})
