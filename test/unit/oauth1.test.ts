import { expect, test } from 'vitest'
import { oauth1Header } from '../../pipeline/publishing/oauth1.ts'

test('a request is signed as the example of X’s documentation is', () => {
  const header = oauth1Header(
    {
      method: 'POST',
      url: 'https://api.x.com/1.1/statuses/update.json',
      parameters: { status: 'Hello Ladies + Gentlemen, a signed OAuth request!', include_entities: 'true' },
    },
    {
      apiKey: 'xvz1evFS4wEEPTGEFPHBog',
      apiKeySecret: 'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
      token: '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
      tokenSecret: 'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE',
    },
    { nonce: 'kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg', timestamp: 1_318_622_958 },
  )
  expect(header).toBe(
    'OAuth oauth_consumer_key="xvz1evFS4wEEPTGEFPHBog", oauth_nonce="kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", ' +
      'oauth_signature_method="HMAC-SHA1", oauth_timestamp="1318622958", ' +
      'oauth_token="370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb", oauth_version="1.0", ' +
      'oauth_signature="Ls93hJiZbQ3akF3HF3x1Bz8%2FzU4%3D"',
  )
})
