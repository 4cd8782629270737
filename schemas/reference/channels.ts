/**
 * The channel group of a source: the default channel groups of Google Analytics 4, in their order, as far as source and
 * medium decide them, plus AI Assistants. Definitions: https://support.google.com/analytics/answer/9756891.
 */

/** Names and domains by what they are; a domain stands for its subdomains, too. */
const search =
  kindOf(`google bing duckduckgo.com yahoo yandex baidu.com ecosia.org qwant.com startpage.com brave naver.com
  daum.net seznam.cz ask.com aol.com sogou.com so.com search.brave.com kagi.com mojeek.com swisscows.com lycos.com
  duckduckgo baidu ecosia qwant startpage naver daum seznam ask aol sogou kagi mojeek swisscows lycos`)
const social =
  kindOf(`facebook.com fb.com fb.me messenger.com instagram.com threads.net threads.com x.com twitter.com t.co
  linkedin.com lnkd.in pinterest pin.it reddit.com redd.it tumblr.com tiktok.com snapchat.com quora.com discord.com
  discord.gg telegram.org t.me whatsapp.com wa.me vk.com ok.ru weibo.com weixin.qq.com line.me mastodon mastodon.social
  bsky.app news.ycombinator.com lobste.rs medium.com substack.com xing.com meetup.com nextdoor.com stackoverflow.com
  facebook fb instagram threads x twitter linkedin reddit tumblr tiktok snapchat quora discord telegram whatsapp vk weibo
  wechat line bluesky hackernews xing meetup nextdoor`)
const video = kindOf(`youtube.com youtu.be vimeo.com twitch.tv dailymotion.com wistia.com bilibili.com rumble.com
  netflix.com hulu.com odysee.com youtube vimeo twitch dailymotion wistia bilibili rumble netflix hulu odysee`)
const shopping = kindOf(`amazon ebay etsy.com walmart.com aliexpress.com alibaba.com shopify.com shop.app mercadolibre
  rakuten.com idealo.de etsy walmart aliexpress alibaba shopify rakuten idealo`)
const assistants =
  kindOf(`chatgpt.com chat.openai.com openai.com perplexity.ai claude.ai anthropic.com gemini.google.com
  bard.google.com copilot.microsoft.com copilot.com chat.deepseek.com deepseek.com grok.com x.ai meta.ai chat.mistral.ai
  mistral.ai you.com poe.com phind.com pi.ai chatgpt openai perplexity claude gemini copilot deepseek grok mistral poe
  phind`)

const paidMedium = /^(.*cp.*|ppc|retargeting|paid.*)$/
const displayMedia = new Set(['display', 'banner', 'expandable', 'interstitial', 'cpm'])
const socialMedia = new Set(['social', 'social-network', 'social-media', 'sm', 'social network', 'social media'])
const referralMedia = new Set(['referral', 'app', 'link'])
const emailNames = new Set(['email', 'e-mail', 'e_mail', 'e mail'])

interface Origin {
  readonly source: string
  readonly medium: string
  readonly isPaid: boolean
}

/** The first that fits. */
const groups: readonly (readonly [string, (origin: Origin) => boolean])[] = [
  ['Direct', ({ source, medium }) => source === 'direct' && (medium === 'none' || medium === '')],
  ['Paid Shopping', ({ source, isPaid }) => isPaid && shopping(source)],
  ['Paid Search', ({ source, isPaid }) => isPaid && search(source) && !assistants(source)],
  ['Paid Social', ({ source, isPaid }) => isPaid && social(source)],
  ['Paid Video', ({ source, isPaid }) => isPaid && video(source)],
  ['Display', ({ medium }) => displayMedia.has(medium)],
  ['Paid Other', ({ isPaid }) => isPaid],
  ['AI Assistants', ({ source, medium }) => assistants(source) || medium === 'ai' || medium === 'ai_assistant'],
  ['Organic Shopping', ({ source }) => shopping(source)],
  ['Organic Social', ({ source, medium }) => social(source) || socialMedia.has(medium)],
  ['Organic Video', ({ source, medium }) => video(source) || medium.includes('video')],
  ['Organic Search', ({ source, medium }) => search(source) || medium === 'organic'],
  ['Referral', ({ medium }) => referralMedia.has(medium)],
  ['Email', ({ source, medium }) => emailNames.has(source) || emailNames.has(medium)],
  ['Affiliates', ({ medium }) => medium === 'affiliate'],
  ['Audio', ({ medium }) => medium === 'audio'],
  ['SMS', ({ source, medium }) => source === 'sms' || medium === 'sms'],
  [
    'Mobile Push Notifications',
    ({ source, medium }) => source === 'firebase' || /push$|mobile|notification/.test(medium),
  ],
]

/** `Unassigned` where no group fits. */
export function channelOf(source: string, medium: string): string {
  const origin = {
    source: source.toLowerCase(),
    medium: medium.toLowerCase(),
    isPaid: paidMedium.test(medium.toLowerCase()),
  }
  return groups.find(([, fits]) => fits(origin))?.[0] ?? 'Unassigned'
}

/** Whether a source is of this list: by its name, by a domain or one above it, or by a name under any country's suffix. */
function kindOf(list: string): (source: string) => boolean {
  const names = new Set(list.split(/\s+/))
  return (source) => {
    const labels = source.split('.')
    for (let at = 0; at < labels.length; at++) {
      if (names.has(labels.slice(at).join('.')) && (at === 0 || at < labels.length - 1)) return true
      // `google.de`, `www.amazon.co.uk`: what stands before a suffix of one or two short parts.
      const suffix = labels.slice(at + 1)
      const isSuffix = suffix.length > 0 && suffix.length <= 2 && suffix.every((label) => label.length <= 3)
      if (isSuffix && suffixedNames.has(labels[at]!) && names.has(labels[at]!)) return true
    }
    return false
  }
}

/** Names that are sites of their own in many countries. */
const suffixedNames = new Set(['google', 'bing', 'yahoo', 'yandex', 'pinterest', 'amazon', 'ebay', 'mercadolibre'])
