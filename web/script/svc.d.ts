/**
 * Types of the browser script's global object, for sites in TypeScript: copy this file into your project, or name it in
 * `files` of your tsconfig.json.
 */

/** Anything that JSON can hold: at most 16 KB, 100 keys, 5 levels. */
type SvcProperties = object

/** How a visit began: the campaign that its first page's URL named, and the site that it came from. */
interface SvcTouch {
  source?: string
  medium?: string
  campaign?: string
  content?: string
  svc_link_id?: string
  svc_post_id?: string
  /** The referring page, if of another site. */
  referrer?: string
  /** The page that it led to. */
  url: string
  /** ISO 8601, by the browser's clock. */
  at: string
}

interface SvcJourney {
  anonymous_id: string | null
  session_id: string | null
  first_touch: SvcTouch | null
  last_touch: SvcTouch | null
}

interface SvcApi {
  /** Records a pageview, unless this URL's has been recorded; `extra` becomes its properties. */
  page(extra?: SvcProperties): void
  /** Records an event of the site's own. Recommended names: lower-case letters, digits, `_`, `-`, `:`. */
  track(name: string, properties?: SvcProperties): void
  /** Says who the visitor is. `full_name`, `company` and `user_id` among the properties describe the person. */
  identify(email: string, properties?: SvcProperties): void
  /** Records a conversion. Money never comes from browsers. */
  conversion(name: string, properties?: SvcProperties): void
  /** Records a web vital that the site has measured itself. */
  webVital(metric: 'FCP' | 'LCP' | 'INP' | 'CLS', value: number, extra?: SvcProperties): void
  /** True: what was held is sent, and recording begins. False: all identifiers are deleted, and recording ends. */
  consent(isGiven: boolean): void
  /** The browser's id; null without consent. */
  anonymousId(): string | null
  /** The visit's id; null without consent. */
  sessionId(): string | null
  /** `url` with the journey in it, for a link to another of your sites; as it is without consent. */
  link(url: string): string
  /** Ids and touches, for a server that sends events of this visitor. */
  journey(): SvcJourney
}

/** Undefined until the script has run, unless the page has the stub of docs/browser.md. */
declare var Svc: SvcApi
