/** Instagram, in what it has of its own: containers are those of publish-threads.test.ts. */
import { expect, test } from 'vitest'
import { testApiHost } from '../support/api.ts'
import { graphError } from '../support/container-server.ts'
import { film, jpeg } from '../support/media-files.ts'
import { instagramUser, page, personToken, startMeta } from '../support/meta-server.ts'
import { answerOnce } from '../support/provider-server.ts'
import { failed, resultOf, schedulePost } from '../support/publisher.ts'
import { connectMeta, setUpPublishing } from '../support/social-platforms.ts'

const { stores, mine, ask, on, publishNow, upload } = setUpPublishing((api) =>
  startMeta((url) => api.ask(url.replace(testApiHost, ''))),
)

const connect = (...words: string[]) => connectMeta(stores, mine, 'instagram', ...words)
const published = (text: string) => {
  const { id } = on.server.instagram.find((one) => one.text === text)!
  return expect.objectContaining({ external_id: id, url: `https://www.instagram.com/p/${id}/` })
}
const photoOf = (width: number) => upload(jpeg({ width, height: 40 }), `${width}`)

test('an image, a reel and a carousel are published by the page’s token, and one whose answer is lost is found', async () => {
  const { json } = await connect('--page', page.id, '--secret', personToken)
  expect(json).toMatchObject({ handle: `@${instagramUser.username}`, external_id: instagramUser.id })
  expect((await connect()).code).toBe(2)
  const [first, second] = [await photoOf(40), await photoOf(41)]
  const movie = await upload(film({ data: 1_000 }), 'A film')
  const hindrances = ['cut after'] as const
  let asked = 0
  on.server.hinder = ({ step }) => (step.endsWith('/media_publish') ? hindrances[asked++] : undefined)
  const posts = await Promise.all([
    publishNow('One #sale @ann.b', json.id, [first]),
    publishNow('Reel @ann.b', json.id, [movie]),
    publishNow('Several @ann.b', json.id, [second, movie, first]),
  ])
  expect(posts.map(resultOf)).toEqual(posts.map(({ base_caption }) => published(base_caption)))
  const shown = on.server.instagram.map(({ text, media }) => [text, media.map(({ altText }) => altText)])
  expect(shown.sort()).toEqual([
    ['One #sale @ann.b', ['40']],
    ['Reel @ann.b', [undefined]],
    ['Several @ann.b', ['41', undefined, '40']],
  ])
})

test('Instagram’s codes tell the limit of a day, which is waited for, from what is refused', async () => {
  const account: number = (await connect('--page', page.id)).json.id
  const photo = await photoOf(40)
  const refusals = {
    'media_publish 4': graphError(4, 'Application request limit reached', { error_subcode: 2207051 }),
    'media 36003': graphError(36_003, 'The aspect ratio is not supported.', { error_subcode: 2207009 }),
  }
  for (const [at, refusal] of Object.entries(refusals)) {
    on.server.hinder = ({ step }) =>
      step.endsWith(`/${at.split(' ')[0]}`) && step.startsWith('POST') ? refusal : undefined
    expect(resultOf(await publishNow(at, account, [photo]))).toEqual(failed('refused', 'The platform answered 400'))
  }
  const usedUp = graphError(9, 'Application request limit reached', { error_subcode: 2207042 })
  on.server.hinder = ({ step }) => (step.endsWith('/media_publish') ? usedUp : undefined)
  const id = await schedulePost(ask, { caption: 'Too many', accounts: [account], media: [photo] })
  const resultNow = async () => (await ask('GET', `/v1/posts?before_id=${id + 1}&limit=1`)).body[0].targets[0]
  await expect.poll(resultNow).toMatchObject({
    status: 'publishing',
    publish_result: { error: { code: 'rate_limited', retryable: true } },
  })
})

test('a container that failed with a code for which Meta asks for another one is made again', async () => {
  const account: number = (await connect('--page', page.id)).json.id
  const movie = await upload(film({ data: 1_000 }), 'A film')
  for (const code of ['2207001', '2207020', '2207032', '2207053']) {
    const status = `Error: Media upload has failed with error code ${code}`
    answerOnce(on.server, 'GET /v25.0/:id', { status: 200, body: { id: '1', status_code: 'ERROR', status } })
    expect(resultOf(await publishNow(code, account, [movie]))).toEqual(published(code))
  }
})
