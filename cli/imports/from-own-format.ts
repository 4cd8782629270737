/**
 * Lines of our own format: the fields of an event, and what only a file can say. `svc events export` writes the same, see
 * cli/exports/exported-line.ts.
 */
import { devices } from '../../schemas/event/row.ts'
import { isObject } from '../../schemas/json-object.ts'
import { cut, type KnownVisitor, type Mapped, textOf } from './imported-event.ts'
import { visitorNameLengthMax } from './visitor-names.ts'

export function fromOwnFormat(line: unknown): Mapped {
  if (!isObject(line)) return { refused: 'the line is no JSON object' }
  const { visitor: told = null, is_server_event: isServerEvent, ...event } = line
  const visitor = told === null ? {} : readVisitor(told)
  if (typeof visitor === 'string') return { refused: visitor }
  if (isServerEvent !== undefined && typeof isServerEvent !== 'boolean') {
    return { refused: 'is_server_event: Input should be a valid boolean' }
  }
  if (isServerEvent && textOf(event['anonymous_id']) !== undefined) {
    return { refused: 'is_server_event: such an event has no anonymous_id' }
  }
  return [{ event, visitor, ...(isServerEvent && { isServerEvent }) }]
}

/** The names are ours, so they stay as they are. */
function readVisitor(told: unknown): KnownVisitor | string {
  if (!isObject(told)) return 'visitor: Input should be a valid dictionary'
  const { country, region, region_name: regionName, city, device, browser, os } = told
  const name = textOf(device)
  if (name !== undefined && !isDevice(name)) return `visitor: device is none of ${Object.keys(devices).join(', ')}`
  return {
    country: textOf(country),
    region: textOf(region),
    regionName: textOf(regionName),
    city: textOf(city),
    device: name,
    browser: cut(textOf(browser), visitorNameLengthMax),
    os: cut(textOf(os), visitorNameLengthMax),
  }
}

function isDevice(name: string): name is keyof typeof devices {
  return Object.hasOwn(devices, name)
}
