/** The targets of a tracked link in its forms: a row each, in the order in which they are tried. */
import { useRef, useState } from 'preact/hooks'
import { linkShareMax, linkTargetsMax } from '../../../schemas/limits/link-target-limits.ts'
import type { TrackedLinkTarget } from '../../../schemas/resources/link.ts'
import { countryCode, countryName } from '../view/filter-values.ts'

export const deviceNames = { ios: 'iPhone, iPad', android: 'Android', desktop: 'Desktop' }
const devices = { '': 'Any device', ...deviceNames }

interface Row {
  readonly id: number
  readonly target?: TrackedLinkTarget
}

export function TargetFields({ of = [] }: { readonly of?: readonly TrackedLinkTarget[] }) {
  const [rows, setRows] = useState<readonly Row[]>(() => of.map((target, id) => ({ id, target })))
  const nextId = useRef(of.length)
  const raise = (at: number) => setRows([...rows.slice(0, at - 1), rows[at]!, rows[at - 1]!, ...rows.slice(at + 1)])
  return (
    <fieldset class="targets">
      <legend>Other destinations by device, country and share</legend>
      {rows.length > 0 && <p class="note">The first that fits a visitor counts. {ofShares}</p>}
      <ol>
        {rows.map(({ id, target }, at) => (
          <li key={id} class="controls">
            <select name="target_device" aria-label={`Device ${at + 1}`}>
              {Object.entries(devices).map(([device, label]) => (
                <option key={device} value={device} selected={device === (target?.device ?? '')}>
                  {label}
                </option>
              ))}
            </select>
            <input
              name="target_countries"
              aria-label={`Countries ${at + 1}, with commas between; empty: any`}
              placeholder="Countries: Germany, AT"
              defaultValue={target?.countries?.map(countryName).join(', ')}
            />
            <input
              name="target_share"
              type="number"
              min="1"
              max={linkShareMax}
              aria-label={`Share of visitors ${at + 1}, %; empty: all`}
              placeholder="Share, %"
              defaultValue={target?.share}
            />
            <input
              name="target_url"
              type="url"
              aria-label={`Destination ${at + 1}`}
              placeholder="https://example.com/"
              defaultValue={target?.destination_url}
              required
            />
            <button
              type="button"
              aria-label={`Move destination ${at + 1} up`}
              aria-disabled={at === 0}
              onClick={() => raise(at)}
            >
              ↑
            </button>
            <button
              type="button"
              aria-label={`Remove destination ${at + 1}`}
              onClick={() => setRows(rows.filter((row) => row.id !== id))}
            >
              ×
            </button>
          </li>
        ))}
      </ol>
      <button
        type="button"
        aria-disabled={rows.length >= linkTargetsMax}
        onClick={() => setRows([...rows, { id: nextId.current++ }])}
      >
        Add a destination
      </button>
    </fieldset>
  )
}

const ofShares = `Shares for the same device and countries come to ${linkShareMax} % at most; the rest goes on.`

/** Takes the targets' fields out of a form's data. A country that has no such name is left to the API's refusal. */
export function takeTargets(data: FormData): TrackedLinkTarget[] {
  const fields = ['target_device', 'target_countries', 'target_share', 'target_url']
  const [named, places, shares, urls] = fields.map((name) => {
    const texts = data.getAll(name).map(String)
    data.delete(name)
    return texts
  }) as [string[], string[], string[], string[]]
  return urls.map((destination_url, at) => {
    const device = named[at] as TrackedLinkTarget['device'] | ''
    const texts = places[at]!.split(',').map((text) => text.trim())
    const countries = texts.filter((text) => text !== '').map((text) => countryCode(text) ?? text)
    const share = shares[at] ? Number(shares[at]) : undefined
    // In the API's order, so that changesOf finds what is as before.
    return {
      ...(share !== undefined && { share }),
      ...(device && { device }),
      ...(countries.length > 0 && { countries }),
      destination_url,
    }
  })
}
