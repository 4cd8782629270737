import { describe, expect, test } from 'vitest'
import { readConfig } from '../../runtime/config.ts'
import { domainOf, greetingName } from '../../runtime/mail-settings.ts'

const smtp = (url: string) => readConfig({ SMTP_URL: url }).smtpServer
const from = (text: string) => readConfig({ MAIL_FROM: text }).mailFrom

describe('SMTP_URL', () => {
  test('has the usual ports, and a password in which signs are escaped', () => {
    expect(smtp('smtp://mail.example.com')).toMatchObject({ port: 587, isSecure: false, login: undefined })
    expect(smtp('smtps://a%40b.c:p%2F%23@[::1]/')).toEqual({
      host: '::1',
      port: 465,
      isSecure: true,
      login: { user: 'a@b.c', password: 'p/#' },
    })
    expect(smtp('smtp://u:p@mail.example.com:465')).toMatchObject({ port: 465, isSecure: true })
    expect(readConfig({ SMTP_URL: '' }).smtpServer).toBeUndefined()
  })

  test.each([
    ...'secret http://u:secret@h smtp:secret smtp:// smtp://u@h smtp://:secret@h smtp://u:secret#@h'.split(' '),
    ...'smtp://u:sec%ret@h smtp://u:secret@h/x smtp://u:secret@h?tls=off smtp://u:secret@h:99999'.split(' '),
  ])('%s is refused without showing it', (url) => {
    const read = () => smtp(url)
    expect(read).toThrow(/^SMTP_URL must /)
    expect(read).not.toThrow(/sec(%|ret)/)
  })
})

describe('MAIL_FROM', () => {
  test('is an address, with a name or without', () => {
    expect(from('a@example.com')).toEqual({ name: '', address: 'a@example.com' })
    expect(from('Our figures <a@example.com>')).toEqual({ name: 'Our figures', address: 'a@example.com' })
  })

  test.each(['a', '<a>', 'a@b, c@d', 'x\r\nBcc: e@f <a@b.c>', 'x <a@b.c> <d@e.f>', '"x" <a@b.c>', 'a @b.c'])(
    '%j is refused',
    (text) => {
      expect(() => from(text)).toThrow(/^MAIL_FROM must be an address/)
    },
  )
})

test('a machine without a full name, such as a container, greets by the domain of the sender, in ASCII', () => {
  const sender = from('Büro <info@müller.example>')!
  expect(domainOf(sender)).toBe('xn--mller-kva.example')
  expect(['3f2a9c01d7be', '192.0.2.7', ''].map((name) => greetingName(name, sender))).toEqual(
    Array(3).fill('xn--mller-kva.example'),
  )
  expect(greetingName('mail.example.com', sender)).toBe('mail.example.com')
})
