/** The page, the range and the device of a click map in its address. Pure; test/unit/dashboard-address.test.ts. */
import type { Viewport } from '../../../schemas/resources/click-map.ts'
import { searchOf } from '../shell/search-of.ts'
import { listQuestionOf, type View, writeView } from '../view/address.ts'

export const devices: Readonly<Record<Viewport, string>> = { desktop: 'Desktop', tablet: 'Tablet', mobile: 'Mobile' }

interface Mapped {
  /** Empty: none is chosen. */
  readonly path: string
  readonly device: Viewport
}

/** Whatever isn't known is as if it weren't there. */
export function readMapped(search: string): Mapped {
  const params = new URLSearchParams(search)
  const device = params.get('device') ?? ''
  return { path: params.get('path') ?? '', device: Object.hasOwn(devices, device) ? (device as Viewport) : 'desktop' }
}

/** Filters change nothing in a click map. */
export function writeMapped(view: View, { path, device }: Mapped): string {
  const params = new URLSearchParams(writeView({ ...view, filters: [] }))
  if (path !== '') params.set('path', path)
  if (device !== 'desktop') params.set('device', device)
  return `/dashboard/click-map${searchOf(params)}`
}

/** Undefined while no page is chosen. */
export function mapQuestionOf(view: View, { path, device }: Mapped): string | undefined {
  if (path === '') return undefined
  const params = new URLSearchParams(listQuestionOf({ ...view, filters: [] }))
  params.set('path', path)
  params.set('device', device)
  return `/analytics/click-map?${params}`
}

/** The one page that a filter's value means; undefined where it may mean several. */
export function exactPathOf(value: string): string | undefined {
  return value.replace(/\\./g, '').includes('*') ? undefined : value.replace(/\\(.)/g, '$1')
}
