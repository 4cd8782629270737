import { expect, it } from 'vitest'
import { channelOf } from '../../schemas/reference/channels.ts'
import { countryName } from '../../schemas/reference/country-names.ts'

it.each([
  ['direct', 'none', 'Direct'],
  ['google', 'organic', 'Organic Search'],
  ['google.de', 'referral', 'Organic Search'],
  ['www.google.co.uk', 'referral', 'Organic Search'],
  ['duckduckgo.com', 'referral', 'Organic Search'],
  ['some-engine', 'organic', 'Organic Search'],
  ['google', 'cpc', 'Paid Search'],
  ['Bing', 'PPC', 'Paid Search'],
  ['facebook', 'paid_social', 'Paid Social'],
  ['l.instagram.com', 'referral', 'Organic Social'],
  ['t.co', 'referral', 'Organic Social'],
  ['newspaper', 'social', 'Organic Social'],
  ['youtube.com', 'referral', 'Organic Video'],
  ['youtube', 'cpc', 'Paid Video'],
  ['somewhere', 'video-ad', 'Organic Video'],
  ['amazon.com.br', 'referral', 'Organic Shopping'],
  ['ebay', 'cpc', 'Paid Shopping'],
  ['somewhere', 'banner', 'Display'],
  ['somewhere', 'cpc', 'Paid Other'],
  ['chatgpt.com', 'referral', 'AI Assistants'],
  ['perplexity', 'organic', 'AI Assistants'],
  ['gemini.google.com', 'referral', 'AI Assistants'],
  ['example.org', 'referral', 'Referral'],
  ['newsletter', 'email', 'Email'],
  ['e-mail', '', 'Email'],
  ['partner', 'affiliate', 'Affiliates'],
  ['podcast', 'audio', 'Audio'],
  ['sms', 'text', 'SMS'],
  ['app', 'push', 'Mobile Push Notifications'],
  ['partner', 'leaflet', 'Unassigned'],
])('%s / %s is %s', (source, medium, channel) => {
  expect(channelOf(source, medium)).toBe(channel)
})

it.each(['x.example.com', 'example.x', 'fakegoogle.com', 'google.example.org', 'my-facebook.com'])(
  '%s is nothing but a site of its own',
  (source) => {
    expect(channelOf(source, 'referral')).toBe('Referral')
  },
)

it('names countries in English, and an unknown code by itself', () => {
  expect(['DE', 'US', 'XK', 'ZZ', 'QQ', 'unknown', ''].map(countryName)).toEqual([
    'Germany',
    'United States',
    'Kosovo',
    expect.any(String),
    'QQ',
    'unknown',
    '',
  ])
})
