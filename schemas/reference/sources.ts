/**
 * Referring sites by what they are: the source and medium that a visit from them has. A maintained list; additions need
 * nothing but a line. A line is the source's name and its hosts, each standing for its subdomains too, unless these have
 * a line of their own. `android-app://` referrers have the app's package as their host.
 */

export interface Source {
  readonly source: string
  readonly medium: string
}

export const media = {
  organic: 'organic',
  social: 'social',
  email: 'email',
  video: 'video',
  assistant: 'ai_assistant',
  referral: 'referral',
  paidSearch: 'cpc',
  paidSocial: 'paid_social',
  display: 'display',
  affiliate: 'affiliate',
} as const

export const direct: Source = { source: 'direct', medium: 'none' }

const lists: Readonly<Record<string, string>> = {
  [media.organic]: `
    google com.google.android.googlequicksearchbox
    bing bing.com com.microsoft.bing
    duckduckgo duckduckgo.com com.duckduckgo.mobile.android
    yahoo search.yahoo.com search.yahoo.co.jp
    yandex ya.ru
    baidu baidu.com
    ecosia ecosia.org
    qwant qwant.com
    startpage startpage.com
    brave search.brave.com
    naver search.naver.com
    daum search.daum.net
    seznam search.seznam.cz
    ask ask.com
    aol search.aol.com search.aol.co.uk
    sogou sogou.com
    360 so.com
    kagi kagi.com
    mojeek mojeek.com mojeek.co.uk
    swisscows swisscows.com
    lycos lycos.com
    presearch presearch.com presearch.org
    metager metager.org metager.de
    searxng searx.be searx.space
    yep yep.com
    petal petalsearch.com
    coccoc coccoc.com
    rambler nova.rambler.ru
    mail.ru go.mail.ru
    t-online suche.t-online.de
    web.de suche.web.de
    gmx suche.gmx.net
    dogpile dogpile.com
    search.ch search.ch
    onet szukaj.onet.pl
    virgilio ricerca.virgilio.it
    goo search.goo.ne.jp
    marginalia search.marginalia.nu`,
  [media.social]: `
    facebook facebook.com fb.com fb.me messenger.com com.facebook.katana com.facebook.orca
    instagram instagram.com com.instagram.android
    threads threads.net threads.com
    x x.com twitter.com t.co com.twitter.android
    linkedin linkedin.com lnkd.in com.linkedin.android
    pinterest pin.it com.pinterest
    reddit reddit.com redd.it com.reddit.frontpage
    tumblr tumblr.com
    tiktok tiktok.com com.zhiliaoapp.musically
    snapchat snapchat.com com.snapchat.android
    quora quora.com com.quora.android
    discord discord.com discord.gg discordapp.com com.discord
    telegram telegram.org t.me telegram.me org.telegram.messenger
    whatsapp whatsapp.com wa.me com.whatsapp
    vk vk.com vk.ru
    ok ok.ru
    weibo weibo.com weibo.cn
    wechat weixin.qq.com com.tencent.mm
    zhihu zhihu.com
    douban douban.com
    xiaohongshu xiaohongshu.com
    line line.me jp.naver.line.android
    kakao kakao.com kakaostory.com
    mastodon mastodon.social mastodon.online mstdn.social mas.to fosstodon.org hachyderm.io infosec.exchange
    bluesky bsky.app bsky.social xyz.blueskyweb.app
    hackernews news.ycombinator.com
    lobsters lobste.rs
    producthunt producthunt.com
    medium medium.com
    substack substack.com
    xing xing.com
    meetup meetup.com
    nextdoor nextdoor.com
    stackoverflow stackoverflow.com stackexchange.com superuser.com askubuntu.com serverfault.com
    flipboard flipboard.com
    disqus disqus.com
    livejournal livejournal.com
    slack slack.com com.slack`,
  [media.email]: `
    gmail mail.google.com com.google.android.gm
    outlook outlook.live.com outlook.office.com outlook.office365.com outlook.com mail.live.com com.microsoft.office.outlook
    yahoo_mail mail.yahoo.com mail.yahoo.co.jp
    aol_mail mail.aol.com
    icloud_mail icloud.com
    proton_mail mail.proton.me mail.protonmail.com
    zoho_mail mail.zoho.com mail.zoho.eu
    gmx_mail gmx.net gmx.de gmx.com
    web.de_mail deref-web.de mail.web.de
    gmx_mail deref-gmx.net deref-gmx.com
    t-online_mail email.t-online.de
    fastmail fastmail.com
    yandex_mail mail.yandex.ru mail.yandex.com
    mail.ru_mail e.mail.ru
    qq_mail mail.qq.com
    163_mail mail.163.com
    naver_mail mail.naver.com
    daum_mail mail.daum.net
    seznam_mail email.seznam.cz
    tuta mail.tutanota.com app.tuta.com
    hey app.hey.com
    superhuman mail.superhuman.com
    orange_mail mail.orange.fr messagerie.orange.fr
    libero_mail mail.libero.it
    comcast_mail mail.comcast.net connect.xfinity.com`,
  [media.video]: `
    youtube youtube.com youtu.be youtube-nocookie.com com.google.android.youtube
    vimeo vimeo.com
    twitch twitch.tv
    dailymotion dailymotion.com dai.ly
    bilibili bilibili.com b23.tv
    rumble rumble.com
    odysee odysee.com
    wistia wistia.com wistia.net
    niconico nicovideo.jp
    netflix netflix.com
    peertube joinpeertube.org`,
  [media.assistant]: `
    chatgpt chatgpt.com chat.openai.com com.openai.chatgpt
    perplexity perplexity.ai ai.perplexity.app.android
    claude claude.ai com.anthropic.claude
    gemini gemini.google.com bard.google.com com.google.android.apps.bard
    copilot copilot.microsoft.com copilot.com copilot.cloud.microsoft m365.cloud.microsoft
    deepseek deepseek.com
    grok grok.com x.ai ai.x.grok
    meta_ai meta.ai
    mistral chat.mistral.ai
    qwen chat.qwen.ai qwen.ai
    kimi kimi.com kimi.moonshot.cn
    doubao doubao.com
    you you.com
    poe poe.com
    phind phind.com
    pi pi.ai
    notebooklm notebooklm.google.com
    felo felo.ai
    iask iask.ai
    duck.ai duck.ai
    huggingchat hf.co`,
  [media.paidSearch]: `
    google googleadservices.com googlesyndication.com doubleclick.net`,
}

/** Names whose sites stand under the suffix of many a country, with the subdomains that count as the same. */
const manySuffixes: Readonly<Record<string, { readonly subdomains: RegExp; readonly found: Source }>> = {
  google: {
    subdomains: /^(|www|m|encrypted|images|cse|scholar|ipv4|ipv6|search)$/,
    found: sourceOf('google', media.organic),
  },
  yandex: { subdomains: /^(|www|m|search)$/, found: sourceOf('yandex', media.organic) },
  yahoo: { subdomains: /^(|www|m|.*\bsearch)$/, found: sourceOf('yahoo', media.organic) },
  pinterest: { subdomains: /./, found: sourceOf('pinterest', media.social) },
}
const countrySuffix = /^(com|net|[a-z]{2}|com?\.[a-z]{2})$/

const sourceByHost: ReadonlyMap<string, Source> = new Map(
  Object.entries(lists).flatMap(([medium, text]) =>
    text
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [name = '', ...hosts] = line.trim().split(/\s+/)
        return hosts.map((host) => [host, sourceOf(name, medium)] as const)
      }),
  ),
)

/** A host in lower case, cut by the public suffix list. */
export interface HostParts {
  readonly hostname: string
  readonly subdomain: string
  /** What stands before the suffix: `google` of `www.google.co.uk`. */
  readonly name: string
  readonly suffix: string
}

/** The source that a visit from this host has: one of the list, or else the host itself, as a referral. */
export function sourceOfHost({ hostname, subdomain, name, suffix }: HostParts): Source {
  for (let host = hostname; host !== ''; host = host.includes('.') ? host.slice(host.indexOf('.') + 1) : '') {
    const found = sourceByHost.get(host)
    if (found !== undefined) return found
  }
  const many = Object.hasOwn(manySuffixes, name) ? manySuffixes[name] : undefined
  if (many !== undefined && countrySuffix.test(suffix) && (subdomain === '' || many.subdomains.test(subdomain))) {
    return many.found
  }
  return sourceOf(hostname.replace(/^www\./, ''), media.referral)
}

function sourceOf(source: string, medium: string): Source {
  return { source, medium }
}
