/**
 * The load child that measures: plain sockets, ready-made requests, one look at each answer. autocannon parses every
 * answer in JavaScript and its rate is a burst at the start of each second, so that on the load's one core it would be
 * its own limits that are measured (see load-autocannon.ts, which cross-checks one setting).
 */
import { connect, type Socket } from 'node:net'
import { AnswerReader } from './answer-reader.ts'
import { latencyOf } from './latency.ts'
import type { FromLoad, LoadPlan, ToLoad } from './load-plan.ts'
import { type PreparedRequest, RequestPool } from './request-pool.ts'

interface Connection {
  readonly socket: Socket
  /** The request that is under way, and the time that its latency counts from. */
  request: PreparedRequest | undefined
  since: number
  isBroken: boolean
}

class Sender {
  private readonly pool: RequestPool
  private readonly latencies: Float32Array
  private readonly answers: Record<string, number> = {}
  private readonly free: Connection[] = []
  private readonly connections: Connection[] = []
  private sent = 0
  private answered = 0
  private partial = 0
  /** Under way when their connection broke. */
  private broken = 0
  private startedAt = 0
  private lastAnswerAt = 0
  private isOver = false

  constructor(private readonly plan: LoadPlan) {
    this.pool = new RequestPool(plan)
    this.latencies = new Float32Array(plan.requests)
  }

  async connect(): Promise<void> {
    for (let count = 0; count < this.plan.connections; count++) this.connections.push(await this.open())
  }

  start(): void {
    this.startedAt = performance.now()
    this.lastAnswerAt = this.startedAt
    setTimeout(() => this.finish(), this.plan.withinSeconds * 1000).unref()
    for (const connection of this.connections) {
      if (this.plan.rate === undefined) this.send(connection, performance.now())
      else this.free.push(connection)
    }
    if (this.plan.rate !== undefined) this.sendDue(this.plan.rate)
  }

  /** Looks at the clock without a pause: a timer's millisecond would be most of the latency. */
  private sendDue(rate: number): void {
    if (this.isOver) return
    const due = Math.min(this.plan.requests, Math.floor(((performance.now() - this.startedAt) * rate) / 1000) + 1)
    while (this.sent < due && this.free.length > 0) {
      const connection = this.free.shift()!
      if (!connection.isBroken) this.send(connection, this.startedAt + (this.sent * 1000) / rate)
    }
    if (this.sent >= this.plan.requests) return
    if (this.plan.isSparing) setTimeout(() => this.sendDue(rate), 1)
    else setImmediate(() => this.sendDue(rate))
  }

  private send(connection: Connection, since: number): void {
    if (this.sent >= this.plan.requests || this.isOver) return
    this.sent++
    connection.request = this.pool.take()
    connection.since = since
    connection.socket.write(connection.request.bytes)
  }

  private onAnswer(connection: Connection, status: string, isPartial: boolean): void {
    const now = performance.now()
    this.pool.giveBack(connection.request!)
    connection.request = undefined
    this.latencies[this.answered++] = now - connection.since
    this.answers[status] = (this.answers[status] ?? 0) + 1
    if (isPartial) this.partial++
    this.lastAnswerAt = now
    if (this.answered + this.broken === this.plan.requests) this.finish()
    else if (this.plan.rate === undefined) this.send(connection, now)
    else this.free.push(connection)
  }

  private async open(): Promise<Connection> {
    const { plan } = this
    const expected = plan.eventsPerRequest === 1 ? '' : `"accepted":${plan.eventsPerRequest},`
    const reader = new AnswerReader((status, body) => {
      const isPartial = expected !== '' && status === '202' && !body().includes(expected)
      this.onAnswer(connection, status, isPartial)
    })
    const socket = connect({
      host: '127.0.0.1',
      port: plan.port,
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
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    socket.on('error', () => {})
    socket.on('close', () => {
      connection.isBroken = true
      if (connection.request) this.broken++
      const isAll = this.answered + this.broken === plan.requests
      if (isAll || this.connections.every(({ isBroken }) => isBroken)) this.finish()
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

function tell(message: FromLoad): void {
  process.send!(message)
}

let sender: Sender | undefined
process.on('message', (message: ToLoad) => {
  if (message.type === 'go') return sender!.start()
  sender = new Sender(message.plan)
  sender.connect().then(
    () => tell({ type: 'ready' }),
    (error: Error) => tell({ type: 'failed', why: error.message }),
  )
})
process.on('disconnect', () => process.exit())
