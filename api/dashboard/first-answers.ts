/**
 * The answers that a page begins with, sent inside of it, so that its first paint needs no further request. They come by the same
 * chain as any call of the browser's session. One that fails, or isn't there soon, is left to the browser to ask for.
 */
import type { RequestHead } from '../../runtime/http/head.ts'
import { firstAnswersShareOfAnswer } from '../../schemas/limits/api-limits.ts'
import type { Operation } from '../operations/define.ts'
import { runCall } from '../operations/run.ts'
import { addressOf, type RestGateway, readQuery } from '../transports/rest.ts'

/** Parameters that only the page reads: the API doesn't know them. */
const pageParameters = ['card', 'tab', 'workspace']

/** By path and query, as the page asks for them. */
export type FirstAnswers = Readonly<Record<string, unknown>>

export function makeFirstAnswers(operations: readonly Operation[], gateway: RestGateway) {
  const named = (path: string) => operations.find(({ http }) => http.path === `/v1${path}` && http.method === 'GET')

  async function ask(head: RequestHead, path: string, query: string): Promise<readonly [string, unknown][]> {
    const operation = named(path)
    if (operation === undefined) return []
    const { status, body } = await runCall(
      {
        operation,
        interface: gateway.by.interface,
        requestId: head.requestId,
        credential: gateway.by.credentialOf(head),
        address: addressOf(head, gateway),
        readInput: () => ({
          path: {},
          query: readQuery(query, operation.input.query?.shape),
          idempotencyKey: undefined,
          body: undefined,
        }),
      },
      gateway,
    )
    return status === 200 ? [[query === '' ? path : `${path}?${query}`, body]] : []
  }

  return async function read(head: RequestHead): Promise<FirstAnswers> {
    const asked = [ask(head, '/workspace', ''), ask(head, '/workspaces', '')]
    if (/^\/dashboard\/?$/.test(head.path)) asked.push(ask(head, '/analytics/overview', overviewQuery(head.query)))
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<[]>((resolve) => {
      timer = setTimeout(resolve, gateway.config.answerDeadlineMs * firstAnswersShareOfAnswer, [])
    })
    const answers = await Promise.all(asked.map((one) => Promise.race([one, late])))
    clearTimeout(timer)
    return Object.fromEntries(answers.flat())
  }
}

/** Makes the overview's query from the page's: with defaults, without the page's own parameters, sorted as the page looks it up. */
function overviewQuery(search: string): string {
  const query = new URLSearchParams(search)
  for (const name of pageParameters) query.delete(name)
  if (query.has('start') || query.has('end')) query.delete('days')
  else if (!query.has('days')) query.set('days', '30')
  if (!query.has('compare')) query.set('compare', 'previous')
  query.sort()
  return query.toString()
}
