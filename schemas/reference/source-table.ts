/**
 * The one table of where visits come from: search engines, networks, mail, assistants, and the parameters by which platforms
 * recognise a click. To add a source, add its line, or a word to one.
 *
 * A line is a source's name and what it is known by. The name is no host of other pages: these have their host as source.
 * - hosts. Each stands for its subdomains too, unless these have a line of their own;
 * - `name.*`, a site under the suffix of any country, with `www.` and `m.` (`*.name.*`: with any subdomain);
 * - apps by their package, the host of `android-app://`;
 * - without a dot, other names that campaigns give it.
 *
 * Held by test/unit/source-cases.test.ts.
 */

import { mediums, type SourceKind } from './mediums.ts'

export const sourcesByKind: Readonly<Record<SourceKind, string>> = {
  search: `
    google google.* images.google.* search.google.* encrypted.google.* cse.google.* scholar.google.* ipv4.google.* ipv6.google.* com.google.android.googlequicksearchbox com.google.android.apps.searchlite syndicatedsearch.goog adwords google-ads google_ads googleads
    bing bing.com com.microsoft.bing microsoft-ads
    duckduckgo duckduckgo.com com.duckduckgo.mobile.android ddg
    yahoo yahoo.* *.search.yahoo.* search.yahoo.*
    yandex ya.ru yandex.* search.yandex.* images.yandex.* ru.yandex.searchplugin com.yandex.browser
    baidu baidu.com com.baidu.searchbox
    ecosia ecosia.org com.ecosia.android
    qwant qwant.com com.qwant.liberty
    startpage startpage.com startpage.co.uk
    brave search.brave.com
    naver search.naver.com com.nhn.android.search
    daum search.daum.net
    nate search.nate.com
    zum search.zum.com
    seznam search.seznam.cz
    centrum search.centrum.cz
    ask ask.com
    aol search.aol.com search.aol.co.uk search.aol.de search.aol.fr
    sogou sogou.com
    360 so.com haosou.com
    shenma sm.cn
    kagi kagi.com
    mojeek mojeek.com mojeek.co.uk
    swisscows swisscows.com swisscows.ch
    lycos lycos.com
    presearch presearch.com presearch.org
    metager metager.org metager.de
    searxng searx.be searx.space
    yep yep.com
    petal petalsearch.com
    coccoc coccoc.com
    rambler nova.rambler.ru
    mail.ru_search go.mail.ru
    t-online suche.t-online.de
    web.de_search suche.web.de
    gmx suche.gmx.net
    1und1 suche.1und1.de
    dogpile dogpile.com
    webcrawler webcrawler.com
    infospace infospace.com
    excite excite.com excite.co.jp
    lilo lilo.org
    ekoru ekoru.org
    karmasearch karmasearch.org
    search.ch search.ch
    onet szukaj.onet.pl
    virgilio ricerca.virgilio.it
    libero ricerca.libero.it
    uol busca.uol.com.br
    goo search.goo.ne.jp
    biglobe websearch.biglobe.ne.jp
    nifty search.nifty.com
    docomo search.smt.docomo.ne.jp
    rakuten_search websearch.rakuten.co.jp
    mullvad_leta leta.mullvad.net
    marginalia search.marginalia.nu marginalia-search.com`,
  social: `
    facebook facebook.com fb.com fb.me messenger.com com.facebook.katana com.facebook.lite com.facebook.orca fb facebook-ads facebook_ads meta
    instagram instagram.com ig.me com.instagram.android com.instagram.lite ig instagram-ads
    threads threads.net threads.com com.instagram.barcelona
    x x.com twitter.com t.co com.twitter.android com.twitter.android.lite twitter twitter-ads
    linkedin linkedin.com lnkd.in com.linkedin.android linkedin-ads
    pinterest pinterest.* *.pinterest.* pin.it com.pinterest
    reddit reddit.com redd.it com.reddit.frontpage
    tumblr tumblr.com t.umblr.com com.tumblr
    tiktok tiktok.com com.zhiliaoapp.musically com.ss.android.ugc.trill
    snapchat snapchat.com com.snapchat.android
    quora quora.com com.quora.android
    discord discord.com discord.gg discordapp.com com.discord
    telegram telegram.org t.me telegram.me org.telegram.messenger org.telegram.messenger.web
    whatsapp whatsapp.com wa.me com.whatsapp com.whatsapp.w4b
    signal signal.org org.thoughtcrime.securesms
    viber viber.com com.viber.voip
    vk vk.com vk.ru vkontakte.ru com.vkontakte.android
    ok ok.ru odnoklassniki.ru ru.ok.android
    weibo weibo.com weibo.cn com.sina.weibo
    wechat weixin.qq.com wechat.com com.tencent.mm
    zhihu zhihu.com com.zhihu.android
    douban douban.com
    tieba tieba.baidu.com
    xiaohongshu xiaohongshu.com com.xingin.xhs rednote
    line line.me jp.naver.line.android
    kakao kakao.com kakaostory.com com.kakao.talk
    mixi mixi.jp
    hatena b.hatena.ne.jp
    mastodon mastodon.social mastodon.online mstdn.social mas.to fosstodon.org hachyderm.io infosec.exchange mstdn.jp mastodon.world chaos.social joinmastodon.org org.joinmastodon.android
    lemmy lemmy.world lemmy.ml
    bluesky bsky.app bsky.social xyz.blueskyweb.app bsky
    truth_social truthsocial.com
    hackernews news.ycombinator.com hn
    lobsters lobste.rs
    producthunt producthunt.com
    indiehackers indiehackers.com
    devto dev.to
    medium medium.com
    substack substack.com
    blogger blogger.com
    xing xing.com
    meetup meetup.com
    nextdoor nextdoor.com
    stackoverflow stackoverflow.com stackexchange.com superuser.com askubuntu.com serverfault.com mathoverflow.net
    flipboard flipboard.com flipboard.app
    disqus disqus.com
    digg digg.com
    slashdot slashdot.org
    deviantart deviantart.com
    flickr flickr.com
    goodreads goodreads.com
    dribbble dribbble.com
    behance behance.net
    livejournal livejournal.com
    slack slack.com com.slack
    teams teams.microsoft.com teams.live.com com.microsoft.teams`,
  email: `
    gmail mail.google.com com.google.android.gm inbox.google.com
    outlook outlook.live.com outlook.office.com outlook.office365.com outlook.cloud.microsoft outlook.com mail.live.com hotmail.com com.microsoft.office.outlook
    yahoo_mail mail.yahoo.com mail.yahoo.co.jp com.yahoo.mobile.client.android.mail
    aol_mail mail.aol.com
    icloud_mail icloud.com
    proton_mail mail.proton.me mail.protonmail.com ch.protonmail.android
    zoho_mail mail.zoho.com mail.zoho.eu mail.zoho.in
    gmx_mail gmx.net gmx.de gmx.com gmx.at gmx.ch deref-gmx.net deref-gmx.com deref-gmx.at
    web.de_mail deref-web.de mail.web.de navigator.web.de 3c.web.de
    1und1_mail mail.ionos.de mail.ionos.com webmailer.1und1.de
    mail.com_mail mail.com deref-mail.com
    t-online_mail email.t-online.de
    freenet_mail email.freenet.de
    posteo posteo.de
    mailbox.org_mail mailbox.org
    fastmail fastmail.com
    yandex_mail mail.yandex.ru mail.yandex.com com.yandex.mail
    mail.ru_mail e.mail.ru touch.mail.ru ru.mail.mailapp
    qq_mail mail.qq.com com.tencent.androidqqmail
    163_mail mail.163.com mail.126.com
    naver_mail mail.naver.com
    daum_mail mail.daum.net
    seznam_mail email.seznam.cz
    wp_mail poczta.wp.pl
    onet_mail poczta.onet.pl
    o2_mail poczta.o2.pl
    tuta mail.tutanota.com app.tuta.com
    hey app.hey.com
    superhuman mail.superhuman.com
    orange_mail mail.orange.fr messagerie.orange.fr mail01.orange.fr mail02.orange.fr
    sfr_mail messagerie.sfr.fr
    laposte_mail webmail.laposte.net
    libero_mail mail.libero.it mail1.libero.it
    virgilio_mail mail.virgilio.it
    uol_mail email.uol.com.br
    bol_mail email.bol.com.br
    rediff_mail mail.rediff.com
    comcast_mail mail.comcast.net connect.xfinity.com
    bt_mail email.bt.com
    samsung_email com.samsung.android.email.provider
    k9_mail com.fsck.k9
    mailchimp mailchi.mp list-manage.com campaign-archive.com
    klaviyo klclick.com klclick1.com klclick2.com klclick3.com
    beehiiv mail.beehiiv.com`,
  video: `
    youtube youtube.com youtu.be youtube-nocookie.com com.google.android.youtube yt youtube-ads
    vimeo vimeo.com com.vimeo.android.videoapp
    twitch twitch.tv tv.twitch.android.app
    kick kick.com
    dailymotion dailymotion.com dai.ly
    bilibili bilibili.com b23.tv tv.danmaku.bili
    rumble rumble.com
    odysee odysee.com
    wistia wistia.com wistia.net
    niconico nicovideo.jp
    youku youku.com
    iqiyi iqiyi.com
    tencent_video v.qq.com
    rutube rutube.ru
    ted ted.com
    netflix netflix.com
    hulu hulu.com
    crunchyroll crunchyroll.com
    peertube joinpeertube.org`,
  assistant: `
    chatgpt chatgpt.com chat.openai.com com.openai.chatgpt openai
    perplexity perplexity.ai ai.perplexity.app.android
    claude claude.ai com.anthropic.claude anthropic
    gemini gemini.google.com bard.google.com com.google.android.apps.bard bard
    copilot copilot.microsoft.com copilot.com copilot.cloud.microsoft m365.cloud.microsoft edgeservices.bing.com com.microsoft.copilot
    deepseek deepseek.com com.deepseek.chat
    grok grok.com x.ai ai.x.grok
    meta_ai meta.ai
    mistral chat.mistral.ai
    qwen chat.qwen.ai qwen.ai tongyi.aliyun.com
    kimi kimi.com kimi.moonshot.cn
    doubao doubao.com
    yuanbao yuanbao.tencent.com
    ernie yiyan.baidu.com
    chatglm chatglm.cn chat.z.ai
    you you.com
    poe poe.com com.poe.android
    phind phind.com
    pi pi.ai
    notebooklm notebooklm.google.com
    felo felo.ai
    genspark genspark.ai
    iask iask.ai
    andi andisearch.com
    komo komo.ai
    liner liner.com getliner.com
    monica monica.im
    manus manus.im
    consensus consensus.app
    character.ai character.ai
    lumo lumo.proton.me
    t3_chat t3.chat
    duck.ai duck.ai
    huggingchat hf.co`,
  shop: `
    amazon amazon.* *.amazon.* amzn.to com.amazon.mshop.android.shopping
    ebay ebay.* *.ebay.* com.ebay.mobile
    etsy etsy.com
    google_shopping shopping.google.*
    walmart walmart.com
    aliexpress aliexpress.* *.aliexpress.*
    alibaba alibaba.com
    taobao taobao.com
    tmall tmall.com
    jd jd.com
    temu temu.com
    shein shein.com
    shopee shopee.*
    lazada lazada.*
    flipkart flipkart.com
    shopify shopify.com shop.app
    mercadolibre mercadolibre.* *.mercadolibre.* mercadolivre.com.br
    rakuten rakuten.com rakuten.co.jp
    idealo idealo.*
    zalando zalando.*
    otto otto.de
    allegro allegro.pl
    cdiscount cdiscount.com
    bol bol.com`,
  searchAd: `
    google googleadservices.com`,
  displayAd: `
    google doubleclick.net googlesyndication.com`,
}

/** A line is a platform, the medium of its click and the parameters; lower case, since some platforms mix theirs. */
export const clickParameters = {
  /** Added to paid clicks only: they say more than the referrer. */
  paid: `
    google ${mediums.paidSearch} gclid gclsrc gbraid wbraid
    google ${mediums.display} dclid
    bing ${mediums.paidSearch} msclkid
    x ${mediums.paidSocial} twclid
    linkedin ${mediums.paidSocial} li_fat_id
    tiktok ${mediums.paidSocial} ttclid
    reddit ${mediums.paidSocial} rdt_cid
    pinterest ${mediums.paidSocial} epik
    quora ${mediums.paidSocial} qclid
    snapchat ${mediums.paidSocial} sccid
    impact ${mediums.affiliate} irclid`,
  /** Added to links that people share, and to mails, too. */
  unpaid: `
    facebook ${mediums.social} fbclid
    instagram ${mediums.social} igshid
    klaviyo ${mediums.email} _kx
    mailchimp ${mediums.email} mc_cid`,
} as const
