/**
 * A name server of our own on this machine, the outside part of checks by DNS. It answers PTR, A, AAAA and TXT over UDP from
 * a table.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

export type DnsServer = Awaited<ReturnType<typeof startDnsServer>>

/** Answers, says that it can't, says nothing, keeps answers back until it answers again, or knows no name. */
type Mode = 'answer' | 'fail' | 'silent' | 'hold' | 'cut off'

const types = { A: 1, NS: 2, PTR: 12, TXT: 16, AAAA: 28 } as const
const typeNames = new Map<number, keyof typeof types>([
  [1, 'A'],
  [2, 'NS'],
  [12, 'PTR'],
  [16, 'TXT'],
  [28, 'AAAA'],
])
const codes = { none: 0, serverFailure: 2, noSuchName: 3 } as const

export async function startDnsServer() {
  /** By name, then by type. */
  const records = new Map<string, Partial<Record<keyof typeof types, Buffer[]>>>()
  const socket = createSocket('udp4')
  const held: (() => void)[] = []
  let mode: Mode = 'answer'
  const questions: string[] = []

  const put = (name: string, type: keyof typeof types, data: Buffer) => {
    const known = records.get(name) ?? {}
    records.set(name, { ...known, [type]: [...(known[type] ?? []), data] })
  }

  socket.on('message', (query, peer) => {
    const { name, type, end } = readQuestion(query)
    const typeName = typeNames.get(type)
    questions.push(`${typeName ?? type} ${name}`)
    if (mode === 'silent') return
    const answer = () => {
      const known = mode === 'cut off' ? undefined : records.get(name)
      const found = (typeName && known?.[typeName]) ?? []
      const code = mode === 'fail' ? codes.serverFailure : known === undefined ? codes.noSuchName : codes.none
      socket.send(reply(query, end, code, type, code === codes.none ? found : []), peer.port, peer.address)
    }
    if (mode !== 'hold') return answer()
    held.push(answer)
  })
  put('in-addr.arpa', 'NS', labels('a.in-addr-servers.arpa'))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')

  return {
    /** `address:port`. */
    address: `127.0.0.1:${socket.address().port}`,
    /** Questions so far, as `PTR 1.66.249.66.in-addr.arpa`. */
    questions,
    /** The behaviour from now on. */
    get mode() {
      return mode
    },
    set mode(wanted) {
      mode = wanted
      if (mode === 'answer') for (const answer of held.splice(0)) answer()
    },
    /** An address has this name, and the name these addresses. */
    add: (address: string, host: string, addressesOfHost: readonly string[] = [address]) => {
      put(arpaOf(address), 'PTR', labels(host))
      for (const each of addressesOfHost) put(host.toLowerCase(), isIPv4(each) ? 'A' : 'AAAA', bytesOf(each))
    },
    /** A name has this text besides, in parts of one character. */
    addText: (name: string, text: string) => {
      put(name, 'TXT', Buffer.concat([...text].map((part) => Buffer.from(`\x01${part}`))))
    },
    close: async () => {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const parts: string[] = []
  let at = 12
  while (query[at] !== 0) {
    parts.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    at += 1 + query[at]!
  }
  return { name: parts.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function reply(query: Buffer, end: number, code: number, type: number, found: readonly Buffer[]): Buffer {
  const head = Buffer.from(query.subarray(0, end))
  // An answer, recursion wanted and to be had; one question, no further sections.
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(found.length, 6)
  head.writeUInt32BE(0, 8)
  const answers = found.map((data) => {
    const record = Buffer.alloc(12)
    // The name is that of the question.
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(type, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(60, 6)
    record.writeUInt16BE(data.length, 10)
    return Buffer.concat([record, data])
  })
  return Buffer.concat([head, ...answers])
}

function labels(host: string): Buffer {
  const parts = host.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]))
  return Buffer.concat([...parts, Buffer.of(0)])
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [before = '', after = ''] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const missing = 8 - groups(before).length - groups(after).length
  const all = [...groups(before), ...Array(address.includes('::') ? missing : 0).fill('0'), ...groups(after)]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function arpaOf(address: string): string {
  if (isIPv4(address)) return `${address.split('.').reverse().join('.')}.in-addr.arpa`
  return `${[...bytesOf(address).toString('hex')].reverse().join('.')}.ip6.arpa`
}
