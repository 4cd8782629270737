/** The sender of one request. Its address costs a call into the server and is seldom needed: it is looked up when it is. */

import type { ClientOrigin, TrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import type { HttpResponse } from '../../runtime/http/uws.ts'
import { noCountry } from '../../schemas/event/row.ts'
import { isCountryCode } from '../../schemas/reference/country-zones.ts'
import type { Sender } from '../event-context.ts'

export class RequestSender implements Sender {
  readonly receivedAt = Date.now()
  private origin: ClientOrigin | undefined

  constructor(
    private readonly response: HttpResponse,
    private readonly proxies: TrustedProxies,
    readonly userAgent: string,
    private readonly forwardedFor: string,
    private readonly countryHeader: string,
  ) {}

  get address(): string {
    return this.resolved().address
  }

  get country(): string {
    if (this.countryHeader === '') return noCountry
    const { country } = this.resolved()
    return country !== undefined && isCountryCode(country) ? country : noCountry
  }

  private resolved(): ClientOrigin {
    // The enricher asks within the same turn in which the body arrived, while the response is still the client's.
    this.origin ??= this.proxies.resolve(
      Buffer.from(this.response.getRemoteAddressAsText()).toString('latin1'),
      this.forwardedFor,
      this.countryHeader,
    )
    return this.origin
  }
}
