/** A MaxMind DB of one node: IPv4 below and above 128.0.0.0. Format: https://maxmind.github.io/MaxMind-DB/. */

type Value = string | readonly Value[] | { readonly [name: string]: Value }

export function tinyDatabase(below: Value, above: Value): Buffer {
  const records = [below, above].map(encode)
  const tree = Buffer.alloc(6)
  // Behind the number of nodes and the gap: data, by its offset.
  tree.writeUIntBE(1 + 16, 0, 3)
  tree.writeUIntBE(1 + 16 + records[0]!.length, 3, 3)
  const metadata = [
    Buffer.from([0xe9]),
    ...[encode('node_count'), number(0xc1, 1), encode('record_size'), number(0xa1, 24)],
    ...[encode('ip_version'), number(0xa1, 4), encode('database_type'), encode('Test')],
    ...[encode('languages'), encode([]), encode('binary_format_major_version'), number(0xa1, 2)],
    ...[encode('binary_format_minor_version'), number(0xa1, 0), encode('build_epoch'), number(0xc1, 1)],
    ...[encode('description'), encode({})],
  ]
  const mark = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(16), ...records, mark, ...metadata])
}

/** Each has less than 29 bytes or members, but texts. */
function encode(value: Value): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value)
    if (bytes.length < 29) return Buffer.concat([Buffer.from([0x40 | bytes.length]), bytes])
    if (bytes.length < 285) return Buffer.concat([Buffer.from([0x5d, bytes.length - 29]), bytes])
    const size = Buffer.from([0x5e, 0, 0])
    size.writeUInt16BE(bytes.length - 285, 1)
    return Buffer.concat([size, bytes])
  }
  // The type of a list has a byte of its own: 7 + 4.
  if (Array.isArray(value)) return Buffer.concat([Buffer.from([value.length, 0x04]), ...value.map(encode)])
  const members = Object.entries(value)
  return Buffer.concat([Buffer.from([0xe0 | members.length]), ...members.flat().map(encode)])
}

function number(type: number, value: number): Buffer {
  return Buffer.from([type, value])
}
