/** Reads a replay as a whole: its chunks, some at a time. */
import type { Replay, ReplayPage } from '../../../schemas/resources/replay.ts'
import { type ApiAnswer, refusalOf, request } from '../requests/request.ts'
import { type Chunk, type Recording, recordingOf } from './replay-events.ts'

/** Chunks of one request, and requests of one replay: an hour is some 720 chunks. */
const chunksEach = 200
const requestsMax = 60
/** Tries of one request, where the service has too much to do. */
const triesMax = 5
const waitMaxMs = 30_000

export interface WholeReplay {
  readonly replay: Replay
  readonly recording: Recording
  /** It has more chunks than are read. */
  readonly isCut: boolean
}

/** @throws Error whose message says why it can't be read, also once `leaving` is aborted */
export async function readReplay(id: string, leaving: AbortSignal): Promise<WholeReplay> {
  const chunks: Chunk[] = []
  let after: number | null = null
  for (let requests = 1; ; requests++) {
    const query: URLSearchParams = new URLSearchParams({ limit: String(chunksEach) })
    if (after !== null) query.set('after_id', String(after))
    const page = await readPage(`/replays/${encodeURIComponent(id)}?${query}`, leaving)
    chunks.push(...page.chunks)
    after = page.next_after_id
    if (after === null || requests === requestsMax) {
      return { replay: page.replay, recording: recordingOf(chunks), isCut: after !== null }
    }
  }
}

async function readPage(path: string, leaving: AbortSignal): Promise<ReplayPage> {
  for (let tries = 1; ; tries++) {
    const answer = await request(path, { signal: leaving })
    const { response } = answer
    if (response.ok) return answer.body as ReplayPage
    const isBusy = response.status === 429 || response.status === 503
    if (!isBusy || tries === triesMax) throw new Error(refusalOf(answer))
    await pause(answer, leaving)
  }
}

/** As long as the service says. */
function pause({ response }: ApiAnswer, leaving: AbortSignal): Promise<void> {
  const wantedMs = (Number(response.headers.get('Retry-After')) || 1) * 1000
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.min(wantedMs, waitMaxMs))
    leaving.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new Error('the page was left'))
    })
  })
}
