import { expect, test } from 'vitest'
import { isPublicAddress, isPublicSender } from '../../runtime/outbound/public-address.ts'

test.each(['8.8.8.8', '1.1.1.1', '168.63.129.15', '2606:4700:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true)
  },
)

test.each([
  ...'127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1'.split(' '),
  // Shared by carriers, link-local with the metadata of clouds, protocols, benchmarks, examples, multicast, reserved.
  ...'100.64.0.1 169.254.169.254 192.0.0.1 198.18.0.1 192.0.2.1 198.51.100.1 203.0.113.1'.split(' '),
  ...'224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 192.88.99.1'.split(' '),
  // Azure's platform, Alibaba's metadata, AWS's by IPv6.
  ...'168.63.129.16 100.100.100.200 fd00:ec2::254'.split(' '),
  ...':: ::1 fe80::1 fc00::1 fd12:3456::1 fec0::1 ff02::1 2001:db8::1 100::1'.split(' '),
  // IPv4 in IPv6: mapped, compatible, translated, 6to4, Teredo.
  ...'::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:a9fe:a9fe ::7f00:1 ::ffff:0:127.0.0.1'.split(' '),
  ...'64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::a83f:8110 64:ff9b:1::1 2002:7f00:1:: 2001::1'.split(' '),
  ...['localhost', 'example.com', '', '127.0.0.1:80'],
])('%s is not', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test('a sender that was translated from IPv4 has no address of its own', () => {
  const senders = ['64:ff9b::808:808', '2606:4700:4700::1111', '8.8.8.8', '10.0.0.1']
  expect(senders.map(isPublicSender)).toEqual([false, true, true, false])
})
