/**
 * The load child that asks the API: requests over plain sockets to 127.0.0.1, bounded in number and time. With a rate
 * it is an open loop: requests are due at fixed times whatever the answers do, connections are opened as they are needed,
 * and latency counts from when a request was due. Without one, every connection asks again when it is answered.
 */
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { AnswerReader } from './answer-reader.ts'
import { latencyOf } from './latency.ts'
import type { AskPlan, FromLoad, ToLoad } from './load-plan.ts'

interface Connection {
  readonly socket: Socket
  isWaiting: boolean
  /** What the latency of its request counts from. */
  since: number
  isBroken: boolean
}

/** A timer comes this much late at most; what is due sooner is waited for without one. */
const timerMs = 2

class Asker {
  private readonly latencies: Float32Array
  private readonly answers: Record<string, number> = {}
  private readonly free: Connection[] = []
  private open = 0
  private sent = 0
  private answered = 0
  /** Under way when their connection broke. */
  private broken = 0
  private startedAt = 0
  private lastAnswerAt = 0
  /** A request is due and has no connection: the next answer goes on with it. */
  private isHeldUp = false
  private isOver = false
  private readonly keyPrefix = randomUUID()

  constructor(private readonly plan: AskPlan) {
    this.latencies = new Float32Array(plan.requests)
  }

  start(): void {
    const { plan } = this
    this.startedAt = performance.now()
    this.lastAnswerAt = this.startedAt
    setTimeout(() => this.finish(), plan.withinSeconds * 1000).unref()
    if (plan.rate !== undefined) return this.sendDue(plan.rate)
    for (let at = 0; at < Math.min(plan.connections, plan.requests); at++) this.send(this.connect(), performance.now())
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
    if (pauseMs > timerMs) setTimeout(() => this.sendDue(rate), pauseMs - timerMs)
    else setImmediate(() => this.sendDue(rate))
  }

  /** The one used last: the others may have been closed by the server in the meantime. */
  private takeFree(): Connection | undefined {
    for (let free = this.free.pop(); free; free = this.free.pop()) if (!free.isBroken) return free
    return this.open < this.plan.connections ? this.connect() : undefined
  }

  private send(connection: Connection, since: number): void {
    const { questions, port } = this.plan
    const { path, apiKey, body } = questions[this.sent % questions.length]!
    this.sent++
    connection.isWaiting = true
    connection.since = since
    const more =
      body === undefined
        ? ''
        : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nIdempotency-Key: ${this.keyPrefix}-${this.sent}\r\n`
    connection.socket.write(
      `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${apiKey}\r\nAccept: application/json\r\n${more}\r\n${body ?? ''}`,
    )
  }

  private onAnswer(connection: Connection, status: string): void {
    const now = performance.now()
    connection.isWaiting = false
    this.latencies[this.answered++] = now - connection.since
    this.answers[status] = (this.answers[status] ?? 0) + 1
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
    const reader = new AnswerReader((status) => this.onAnswer(connection, status))
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
    const connection: Connection = { socket, isWaiting: false, since: 0, isBroken: false }
    this.open++
    socket.on('error', () => {})
    socket.on('close', () => {
      connection.isBroken = true
      this.open--
      if (!connection.isWaiting || this.isOver) return
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
        partial: 0,
      },
    })
  }
}

function tell(message: FromLoad): void {
  process.send!(message)
}

let asker: Asker | undefined
process.on('message', (message: ToLoad<AskPlan>) => {
  if (message.type === 'go') return asker!.start()
  asker = new Asker(message.plan)
  tell({ type: 'ready' })
})
process.on('disconnect', () => process.exit())
