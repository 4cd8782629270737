/**
 * The load child that measures: plain sockets to 127.0.0.1, requests that are ready or cheap to make, one look at each
 * answer. With a rate it is an open loop: requests are due at fixed times, however slow the answers are. Latency counts
 * from when a request was due. Without one, a connection sends again when it is answered.
 *
 * autocannon parses every answer in JavaScript, and its rate is a burst at the start of each second. On the load's one
 * core its own limits would be measured (load-autocannon.ts cross-checks one setting).
 */
import { connect, type Socket } from 'node:net'
import { AnswerReader } from './answer-reader.ts'
import { latencyOf } from './latency.ts'
import type { AskPlan, FromLoad, LoadPlan, ToLoad } from './load-plan.ts'
import { makeQuestions } from './questions-asked.ts'
import { type PreparedRequest, RequestPool } from './request-pool.ts'

type Plan = LoadPlan | AskPlan

interface Request {
  readonly bytes: string | Buffer
}

/** Where requests come from. */
interface Source {
  take(): Request
  /** It is answered, or its connection broke. */
  giveBack?(request: Request): void
  /** Whether an answer with this body says that not all was taken; undefined: bodies aren't looked at. */
  readonly isPartial?: (body: string) => boolean
  /** Bodies of events: all connections are there before the first is sent, and take turns. */
  readonly opensFirst: boolean
}

interface Connection {
  readonly socket: Socket
  /** The request that is under way, and the time that its latency counts from. */
  request: Request | undefined
  since: number
  isBroken: boolean
}

/** A timer comes this much late at most; what is due sooner is waited for without one. */
const timerMs = 2

class Sender {
  private readonly latencies: Float32Array
  private readonly answers: Record<string, number> = {}
  private readonly free: Connection[] = []
  private open = 0
  private sent = 0
  private answered = 0
  private partial = 0
  /** Under way when their connection broke. */
  private broken = 0
  private startedAt = 0
  private lastAnswerAt = 0
  /** A request is due and has no connection: the next answer goes on with it. */
  private isHeldUp = false
  private isOver = false

  constructor(
    private readonly plan: Plan,
    private readonly source: Source,
  ) {
    this.latencies = new Float32Array(plan.requests)
  }

  async prepare(): Promise<void> {
    if (!this.source.opensFirst) return
    for (let count = 0; count < this.plan.connections; count++) {
      const connection = this.connect()
      await new Promise<void>((resolve, reject) => connection.socket.once('connect', resolve).once('error', reject))
      this.free.push(connection)
    }
  }

  start(): void {
    const { connections, requests, rate, withinSeconds } = this.plan
    this.startedAt = performance.now()
    this.lastAnswerAt = this.startedAt
    setTimeout(() => this.finish(), withinSeconds * 1000).unref()
    if (rate !== undefined) return this.sendDue(rate)
    for (let at = 0; at < Math.min(connections, requests); at++) this.send(this.takeFree()!, performance.now())
  }

  private sendDue(rate: number): void {
    const dueAt = () => this.startedAt + (this.sent * 1000) / rate
    while (!this.isOver && this.sent < this.plan.requests && dueAt() <= performance.now()) {
      const connection = this.takeFree()
      this.isHeldUp = connection === undefined
      if (connection === undefined) return
      this.send(connection, dueAt())
    }
    if (this.isOver || this.sent >= this.plan.requests) return
    const pauseMs = dueAt() - performance.now()
    if ('isSparing' in this.plan && this.plan.isSparing) setTimeout(() => this.sendDue(rate), 1)
    else if (pauseMs > timerMs) setTimeout(() => this.sendDue(rate), pauseMs - timerMs)
    else setImmediate(() => this.sendDue(rate))
  }

  /**
   * For events, connections take turns. For questions, which are rarer, the connection used last is taken: the API may
   * have closed others.
   */
  private takeFree(): Connection | undefined {
    while (this.free.length > 0) {
      const connection = this.source.opensFirst ? this.free.shift()! : this.free.pop()!
      if (!connection.isBroken) return connection
    }
    return this.open < this.plan.connections ? this.connect() : undefined
  }

  private send(connection: Connection, since: number): void {
    this.sent++
    connection.request = this.source.take()
    connection.since = since
    connection.socket.write(connection.request.bytes)
  }

  private onAnswer(connection: Connection, status: string, body: () => string): void {
    const now = performance.now()
    this.source.giveBack?.(connection.request!)
    connection.request = undefined
    this.latencies[this.answered++] = now - connection.since
    this.answers[status] = (this.answers[status] ?? 0) + 1
    if (status === '202' && this.source.isPartial?.(body())) this.partial++
    this.lastAnswerAt = now
    this.goOn(connection)
  }

  private goOn(connection?: Connection): void {
    const { requests, rate } = this.plan
    if (this.answered + this.broken === requests) return this.finish()
    if (rate === undefined) {
      if (this.sent < requests) this.send(connection ?? this.connect(), performance.now())
      return
    }
    if (connection) this.free.push(connection)
    if (this.isHeldUp) this.sendDue(rate)
  }

  private connect(): Connection {
    const reader = new AnswerReader((status, body) => this.onAnswer(connection, status, body))
    const socket = connect({
      host: '127.0.0.1',
      port: this.plan.port,
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafeSlow(64 * 1024),
        callback: (length, buffer) => {
          reader.read(buffer as Buffer, length)
          return true
        },
      },
    })
    const connection: Connection = { socket, request: undefined, since: 0, isBroken: false }
    this.open++
    socket.on('error', () => {})
    socket.on('close', () => {
      connection.isBroken = true
      this.open--
      if (!connection.request || this.isOver) return
      this.source.giveBack?.(connection.request)
      this.broken++
      this.goOn()
    })
    return connection
  }

  private finish(): void {
    if (this.isOver) return
    this.isOver = true
    tell({ type: 'ended' })
    tell({
      type: 'done',
      outcome: {
        sent: this.sent,
        answers: this.answers,
        unanswered: this.sent - this.answered,
        seconds: (this.lastAnswerAt - this.startedAt) / 1000,
        latency: latencyOf(this.latencies.subarray(0, this.answered)),
        partial: this.partial,
      },
    })
  }
}

function sourceOf(plan: Plan): Source {
  if ('questions' in plan) return { take: makeQuestions(plan), opensFirst: false }
  const pool = new RequestPool(plan)
  const expected = `"accepted":${plan.eventsPerRequest},`
  return {
    take: () => pool.take(),
    giveBack: (request) => pool.giveBack(request as PreparedRequest),
    opensFirst: true,
    ...(plan.eventsPerRequest > 1 && { isPartial: (body) => !body.includes(expected) }),
  }
}

function tell(message: FromLoad): void {
  process.send!(message)
}

let sender: Sender | undefined
process.on('message', async (message: ToLoad<Plan>) => {
  if (message.type === 'go') return sender!.start()
  try {
    sender = new Sender(message.plan, sourceOf(message.plan))
    await sender.prepare()
    tell({ type: 'ready' })
  } catch (error) {
    tell({ type: 'failed', why: String(error) })
  }
})
process.on('disconnect', () => process.exit())
