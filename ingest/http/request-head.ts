/** The request headers that ingest uses, read in one pass. One object is reused for all requests. */
import type { PlaceHeaders, PlaceName } from '../../runtime/http/place-headers.ts'
import type { HttpRequest } from '../../runtime/http/uws.ts'

export class RequestHead {
  userAgent = ''
  forwardedFor = ''
  country = ''
  region = ''
  regionName = ''
  city = ''
  requestId = ''
  /** Content-Length as it came; empty when there is none. */
  length = ''
  /** False when where the body ends can't be trusted. */
  isFramed = true
  isEncoded = false
  /** It names several hosts: a proxy may have chosen another of them than we would. */
  hasManyHosts = false
  private hasTransferEncoding = false
  private hasHost = false

  /** By name of the header. */
  private readonly places: ReadonlyMap<string, PlaceName>

  constructor(headers: PlaceHeaders) {
    this.places = new Map((Object.keys(headers) as PlaceName[]).map((name) => [headers[name], name]))
  }

  read(request: HttpRequest): void {
    this.userAgent = ''
    this.forwardedFor = ''
    this.country = ''
    this.region = ''
    this.regionName = ''
    this.city = ''
    this.requestId = ''
    this.length = ''
    this.isFramed = true
    this.isEncoded = false
    this.hasTransferEncoding = false
    this.hasManyHosts = false
    this.hasHost = false
    request.forEach(this.take)
    if (this.length !== '' && (this.hasTransferEncoding || !/^\d{1,15}$/.test(this.length))) this.isFramed = false
  }

  private readonly take = (name: string, value: string): void => {
    switch (name) {
      case 'host':
        this.hasManyHosts = this.hasHost
        this.hasHost = true
        break
      case 'user-agent':
        this.userAgent = value
        break
      case 'x-forwarded-for':
        this.forwardedFor = this.forwardedFor === '' ? value : `${this.forwardedFor}, ${value}`
        break
      case 'x-request-id':
        this.requestId = value
        break
      case 'content-length':
        // uWebSockets.js takes the first of two and would run the rest as a request of its own.
        if (this.length !== '') this.isFramed = false
        this.length = value === '' ? 'none' : value
        break
      case 'transfer-encoding':
        if (this.hasTransferEncoding || value.toLowerCase() !== 'chunked') this.isFramed = false
        this.hasTransferEncoding = true
        break
      case 'content-encoding':
        this.isEncoded = value.toLowerCase() !== 'identity'
        break
      default: {
        const place = this.places.get(name)
        if (place !== undefined) this[place] = value
      }
    }
  }
}
