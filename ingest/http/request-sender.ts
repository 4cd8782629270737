/** The sender of one request. Its address costs a call into the server and is seldom needed: it is looked up when it is. */

import { placeText } from '../../runtime/http/place-headers.ts'
import type { ClientOrigin, TrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import type { HttpResponse } from '../../runtime/http/uws.ts'
import { noCountry } from '../../schemas/event/row.ts'
import { isCountryCode } from '../../schemas/reference/country-zones.ts'
import { type Area, areaOf, noArea } from '../../schemas/reference/places.ts'
import type { Sender } from '../event-context.ts'
import type { RequestHead } from './request-head.ts'

type HeadTexts = Readonly<
  Pick<RequestHead, 'userAgent' | 'forwardedFor' | 'country' | 'region' | 'regionName' | 'city'>
>

export class RequestSender implements Sender {
  readonly receivedAt = Date.now()
  readonly userAgent: string
  private readonly head: HeadTexts
  private origin: ClientOrigin | undefined
  private foundArea: Area | undefined

  /** @param head its texts are copied, as it is used for other requests */
  constructor(
    private readonly response: HttpResponse,
    private readonly proxies: TrustedProxies,
    { userAgent, forwardedFor, country, region, regionName, city }: HeadTexts,
  ) {
    this.userAgent = userAgent
    this.head = { userAgent, forwardedFor, country, region, regionName, city }
  }

  get address(): string {
    return this.resolved().address
  }

  get country(): string {
    if (this.head.country === '') return noCountry
    const { country } = this.resolved()
    return country !== undefined && isCountryCode(country) ? country : noCountry
  }

  get area(): Area {
    this.foundArea ??= this.findArea()
    return this.foundArea
  }

  /** A proxy that may not name a country, or knows none, names no part of it either. */
  private findArea(): Area {
    const { region, regionName, city } = this.head
    if (region === '' && regionName === '' && city === '') return noArea
    const { country } = this
    const texts = { region: placeText(region), regionName: placeText(regionName), city: placeText(city) }
    return country === noCountry ? noArea : areaOf(country, texts)
  }

  private resolved(): ClientOrigin {
    // The enricher asks within the same turn in which the body arrived, while the response is still the client's.
    this.origin ??= this.proxies.resolve(
      Buffer.from(this.response.getRemoteAddressAsText()).toString('latin1'),
      this.head.forwardedFor,
      this.head.country,
    )
    return this.origin
  }
}
