/** Values that the server writes into the script: the bundle is a function of them. */

declare const SVC: readonly [
  key: string,
  host: string,
  /** The second file's, behind `base` and before a number. */
  lateAddress: string,
  isAutocaptureOff: 0 | 1,
  /** 0: given unless the browser says otherwise; 1: to be asked for; 2: given. */
  consentMode: 0 | 1 | 2,
]

export const [key, host, lateAddress, isAutocaptureOff, consentMode] = SVC

const [folder, ours] = ((document.currentScript as HTMLScriptElement | null)?.src + '').split(/[^/]*\?.*key=svc_/)

/**
 * Ends in a slash. The place beside the script takes its events, too. That is right behind every proxy that serves us
 * under a host and path of its own. A copy that the site has put elsewhere goes to the product's own address.
 */
export const base = ours ? folder : host
