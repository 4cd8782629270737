/**
 * The reference for the API's reads and writes. A bare uWebSockets.js handler runs the same statements through the same
 * pool, and answers their rows as they are. No key, no limit, no validation, no retry.
 */
import { randomUUID } from 'node:crypto'
import { connectPostgres } from '../../postgres/client.ts'
import { setPostTargets } from '../../postgres/tables/posts/post-targets.ts'
import { insertPost, listPosts, readPost, setPostMedia } from '../../postgres/tables/posts/posts.ts'
import { insertOutbox } from '../../postgres/tables/webhooks/outbox.ts'
import { appendAuditEvent } from '../../postgres/tables/workspaces/audit.ts'
import {
  findIdempotencyRecord,
  insertIdempotencyRecord,
  tryLockIdempotencyKey,
} from '../../postgres/tables/workspaces/idempotency.ts'
import { uws } from '../../runtime/http/uws.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'

const pg = connectPostgres(process.argv[2]!)
const workspaceId = Number(process.argv[3])

async function read(): Promise<string> {
  return JSON.stringify(await listPosts(pg, workspaceId, { limit: 100 }))
}

async function write(body: Buffer): Promise<string> {
  const { title, base_caption } = JSON.parse(body.toString('utf8')) as { title: string; base_caption: string }
  const key = randomUUID()
  return pg.transaction(async (tx) => {
    await tryLockIdempotencyKey(tx, workspaceId, key)
    await findIdempotencyRecord(tx, workspaceId, key)
    await tx.query('SAVEPOINT handler')
    const given = { workspaceId, title, baseCaption: base_caption }
    const fields = { ...given, thread: [], firstComment: null, scheduledAt: null, tags: [] }
    const id = await insertPost(tx, fields)
    await setPostMedia(tx, id, [])
    await setPostTargets(tx, id, [], 'draft')
    const answer = JSON.stringify(await readPost(tx, workspaceId, id))
    const record = { fingerprint: Buffer.alloc(32), status: 200, body: Buffer.from(answer), scopes: [] }
    await insertIdempotencyRecord(tx, workspaceId, key, record, 3 * dayMs)
    await insertOutbox(tx, workspaceId, 'post.created', JSON.parse(answer))
    await appendAuditEvent(tx, {
      workspaceId,
      action: 'post.create',
      actorType: 'api_key',
      actorId: 1,
      actorName: 'bench',
      interface: 'rest',
      resourceType: 'post',
      resourceId: id,
      requestId: key,
      ipHash: null,
      metadata: { fields: ['title'] },
    })
    return answer
  })
}

const app = uws.App().any('/*', (response, request) => {
  const isRead = request.getMethod() === 'get'
  let isAborted = false
  response.onAborted(() => {
    isAborted = true
  })
  const answer = (work: Promise<string>) =>
    work.then(
      (text) => {
        if (isAborted) return
        response.cork(() => {
          response.writeStatus('200 OK')
          response.writeHeader('Content-Type', 'application/json')
          response.end(text)
        })
      },
      () => isAborted || response.cork(() => response.writeStatus('500').end()),
    )
  if (isRead) return void answer(read())
  const chunks: Buffer[] = []
  response.onData((chunk, isLast) => {
    chunks.push(Buffer.from(new Uint8Array(chunk)))
    if (isLast) void answer(write(Buffer.concat(chunks)))
  })
})

app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('no free port')
  process.send?.({ type: 'ready', port: uws.us_socket_local_port(socket) })
})
process.on('disconnect', () => process.exit())
