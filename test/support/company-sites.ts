/** Websites of companies, on loopback: what sources of a company profile can be. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { listening } from './listening.ts'

const shop = `<!doctype html><html lang="en"><head><title>Fern &amp; Pot – plants by post</title>
<meta name="description" content="House plants, grown in Kent and sent by post.">
<meta property="og:description" content="Plants by post, alive when they arrive."><meta name="theme-color" content="#2F6B3C">
<link rel="stylesheet" href="https://fonts.example/css?family=Work+Sans:400,700&display=swap">
<script type="application/ld+json">{"@context":"https://schema.org","@graph":[
 {"@type":"OnlineStore","name":"Fern & Pot","description":"A nursery that sends house plants by post.","logo":"https://fern.example/logo.png"},
 {"@type":"Product","name":"Boston fern"},{"@type":"Product","name":"Snake plant"}]}</script>
<style>body{color:#222;background:#fff;font-family:"Work Sans",sans-serif}a{color:#2f6b3c}</style></head>
<body><nav><ul><li>Home</li><li>Basket</li></ul></nav><h1>House plants that arrive alive</h1>
<p>We grow every plant ourselves. You get it within two days! Your plant comes with its own care card. We replace what dies.</p>
<h2>Free replacement for 30 days</h2><h2>Packed without plastic</h2><h2>FAQ</h2>
<a class="btn btn-primary" href="/shop">Shop plants</a><button>Add to basket</button>
<a href="https://www.instagram.com/fernandpot">Instagram</a><footer><h2>Legal</h2><p>Fern &amp; Pot Ltd, a company in England and Wales.</p></footer></body></html>`

const saas = `<html><head><title>Ledgerly – accounting software for small restaurants</title>
<meta name="description" content="Ledgerly does the books of a restaurant."><script type="application/ld+json">{"@type":"WebSite","description":""}</script></head><body><header><h1>The books do themselves</h1></header>
<h2>Features</h2><h3>Receipts by photo</h3><h3>Payroll in one click</h3><ul><li>VAT returns</li></ul>
<h2>Pricing</h2><ul><li>€ 19 a month</li></ul><h2>Close the month in an hour</h2><a role="button" href="/start">Start free trial</a></body></html>`

const blog = `<html><body><div>Hello.</div><p>Today I walked along the river, saw a heron, and thought about nothing at all.</p></body></html>`

const plain = `<html><body><p>The mill by the river was built of stone in 1840, and a second floor of oak was added to it later.
Flour of rye and spelt is ground on its three wheels from the harvest in August until the first frost of winter.
Bakers of the valley have bought it in sacks of fifty kilograms for as long as anybody can remember.
The wheels were replaced in 1990, after the flood of that spring had carried the older ones away.</p></body></html>`

const japanese = `<html><head><meta charset="utf-8"><title>青空会計</title><meta name="description" content="個人事業主向けの会計ソフトです。"></head>
<body><h1>確定申告を、もっとかんたんに</h1><h2>特長</h2><ul><li>レシートを撮るだけで記帳</li><li>銀行口座と連携</li></ul>
<p>青空会計は、毎日の記帳を自動で行います。専門の知識は必要ありません。スマートフォンで使えます。すぐに始められます。</p><button>無料ではじめる</button></body></html>`

const scripted = `<!doctype html><html><head><script src="/app.js"></script></head><body><div id="root"></div><script>document.title='Later'</script></body></html>`

const bomb = `<!DOCTYPE html [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<html><head><title>&c;</title><script type="application/ld+json">{"@type":{"toString":1,"valueOf":1},"description":"x"}</script><script type="application/ld+json">{"@graph":[[[[${'['.repeat(20_000)}</script></head><body>${'<div><p>'.repeat(500)}<h1>Deep</h1>
<style>a{font-family:${'x,'.repeat(5_000)}}</style>${'<a class="btn" href="javascript:alert(1)">Buy</a>'.repeat(2_000)}${'<div><p>'.repeat(20_000)}<h2>Deeper still</h2></body></html>`

const styled = `<html><head><link rel="stylesheet" href="/looks.css"><link rel="Stylesheet preload" href="moved.css"><link rel="stylesheet" href="large.css">
<link rel="stylesheet" media="print" href="/print.css"><link rel="alternate stylesheet" href="/other.css"><link rel="stylesheet" href="http://127.0.0.2/framework.css">
<link rel="stylesheet" href="/secret.css"><link rel="stylesheet" href="/away.css"><link rel="stylesheet" href="/shop"></head><body><h1>Looks</h1></body></html>`

const pages: Readonly<Record<string, string>> = { shop, saas, blog, plain, japanese, scripted, bomb, styled }
const sheets: Readonly<Record<string, string>> = {
  'looks.css': 'body{color:#123456;font-family:"Fira Sans",serif}a{color:#123456}pre{font-family:ui-monospace,Menlo}',
  'more.css': 'h1{color:#abc}',
  'large.css': '/* */a{color:#654321}'.repeat(100_000),
  'secret.css': 'a{color:#fedcba}',
}

export interface CompanySites {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Paths in the order in which they were asked for, robots.txt left out. */
  readonly asked: string[]
  /** Where robots.txt is redirected to, in place of being there. */
  robotsAt?: string
  /** In place of the one that forbids `/secret` alone. */
  robots?: string
  close(): Promise<void>
}

export async function startCompanySites(): Promise<CompanySites> {
  const asked: string[] = []
  const answer: RequestListener = (request, response) => {
    const path = request.url!.slice(1)
    if (!path.includes('robots')) asked.push(request.url!)
    const send = (status: number, body: string, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body)
    if (path === 'robots.txt' && sites.robotsAt !== undefined) return send(301, '', { location: sites.robotsAt })
    if (path === 'robots.txt' || path === 'moved-robots')
      return send(200, sites.robots ?? 'User-agent: *\nDisallow: /secret\n', { 'content-type': 'text/plain' })
    if (pages[path] !== undefined) return send(200, pages[path])
    if (sheets[path] !== undefined) return send(200, sheets[path], { 'content-type': 'text/css' })
    if (path === 'moved.css') return send(301, '', { location: '/more.css' })
    if (path === 'away.css') return send(302, '', { location: 'http://169.254.169.254/looks.css' })
    if (path === 'loop') return send(302, '', { location: '/loop' })
    if (path === 'away') return send(302, '', { location: 'http://169.254.169.254/latest/meta-data' })
    if (path === 'far') return send(302, '', { location: `/shop?${'a'.repeat(2_048)}` })
    if (path === 'file') return send(302, '', { location: 'file:///etc/passwd' })
    if (path === 'moved') return send(301, '', { location: '/shop' })
    if (path === 'picture') return send(200, 'GIF89a', { 'content-type': 'image/gif' })
    if (path === 'large') {
      response.writeHead(200, { 'content-type': 'text/html' })
      for (let mega = 0; mega < 10; mega++) response.write('<p>a</p>'.repeat(131_072))
      return response.end()
    }
    return path === 'hang' ? undefined : send(404, 'Not here')
  }
  const server = createServer(answer)
  const sites: CompanySites = {
    url: (await listening(server)).url,
    asked,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return sites
}
