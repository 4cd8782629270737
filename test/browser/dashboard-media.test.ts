/** Images of posts that networks, or the service, take in another format alone: the editor makes the copy. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { list, setUpDashboard, violations } from '../support/dashboard.ts'
import { png } from '../support/media-files.ts'
import { asking, makeAccount } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)
const files = async () =>
  (await ask<{ filename: string; content_type: string; alt_text: string }[]>('GET', '/v1/media')).body.map(
    ({ filename, content_type, alt_text }) => [filename, content_type, alt_text],
  )

test('Instagram gets a JPG of a PNG, with its text, and a WebP becomes one as it is added', async (context) => {
  await makeAccount(stores, mine.workspaceId, 'threads')
  await makeAccount(stores, mine.workspaceId, 'instagram')
  const page = await signIn(context, '/dashboard/posts')
  await page.click('text=Write a post')
  await page.fill('text=Title', 'Pictures')
  await page.getByLabel('Caption', { exact: true }).fill('Two pictures')
  await page.getByRole('checkbox', { name: /threads/ }).check()
  await page.setInputFiles('input[type="file"]', { name: 'dot.png', mimeType: 'image/png', buffer: png() })
  await page.fill('text=What it shows', 'A dot')
  await page.click('text=Add the file')
  await page.waitForSelector('.media label')
  const toJpeg = page.getByRole('button', { name: /^Use a JPG, for Instagram/ })
  expect(await toJpeg.count()).toBe(0)
  await page.getByRole('checkbox', { name: /instagram/ }).check()
  await page.waitForSelector(`${list('Preview')} >> text=Instagram takes no image/png`)
  expect(await violations(page)).toEqual([])
  await page.fill('text=Alternative text', 'A red dot')
  await toJpeg.click()
  await page.waitForSelector('[role="status"]:has-text("A JPG is in the place of file")')
  await page.waitForSelector(`${list('Preview')} >> text=Instagram takes no image/png`, { state: 'detached' })
  expect(await toJpeg.count()).toBe(0)

  const webp = await page.evaluate<number[]>(`(async () => {
    const canvas = new OffscreenCanvas(40, 30)
    canvas.getContext('2d')
    return [...new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp' })).arrayBuffer())]
  })()`)
  await page.setInputFiles('input[type="file"]', [
    { name: 'clear.webp', mimeType: 'image/webp', buffer: Buffer.from(webp) },
    { name: 'broken.webp', mimeType: 'image/webp', buffer: Buffer.from('RIFF') },
  ])
  await page.click('text=Add the files')
  await page.waitForSelector('[role="status"]:has-text("1 of 2 files were added")')
  await page.waitForSelector('[role="alert"]:has-text("broken.webp: Only JPG, PNG, MP4 and MOV files are accepted")')
  expect(await files()).toEqual([
    ['clear.jpg', 'image/jpeg', ''],
    ['dot.jpg', 'image/jpeg', 'A red dot'],
    ['dot.png', 'image/png', expect.any(String)],
  ])
  // Transparent parts are white.
  const corner = await page.evaluate(`(async () => {
    const shown = [...document.querySelectorAll('.media img')].at(-1)
    const context = new OffscreenCanvas(1, 1).getContext('2d')
    context.drawImage(await createImageBitmap(shown), 0, 0)
    return [...context.getImageData(0, 0, 1, 1).data]
  })()`)
  expect(corner).toEqual([255, 255, 255, 255])
})

test('a picture that is pasted into a text is a file of its part, and text is pasted as text', async (context) => {
  const page = await signIn(context, '/dashboard/posts')
  await page.click('text=Write a post')
  const caption = page.getByLabel('Caption', { exact: true })
  /** @returns whether the browser is left to paste what there is */
  const paste = async (field: typeof caption, ...texts: string[]) => {
    await field.focus()
    return page.evaluate(`(() => {
      const clipboardData = new DataTransfer()
      const bytes = new Uint8Array(${JSON.stringify([...png()])})
      clipboardData.items.add(new File([bytes], 'image.png', { type: 'image/png' }))
      for (const text of ${JSON.stringify(texts)}) clipboardData.setData('text/plain', text)
      const pasted = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      return document.activeElement.dispatchEvent(pasted)
    })()`)
  }
  expect(await paste(caption, 'Cells of a table')).toBe(true)
  expect(await page.getByText('Leave out').count()).toBe(0)
  expect(await paste(caption)).toBe(false)
  await page.fill('text=What it shows', 'A screen')
  await page.click('text=Add the file')
  await page.waitForSelector('[role="status"]:has-text("image.png was added.")')
  await page.click('button:text-is("Add to thread")')
  expect(await paste(page.getByLabel('Part 2', { exact: true }))).toBe(false)
  const files = page.getByRole('group', { name: 'Images and videos of part 2' })
  await files.getByText('Add the file').click()
  await files.locator('img').waitFor()
  expect(await page.locator('.media img').count()).toBe(2)
})
