/**
 * Umami's table `event_data`: what a site sent along with its own events, one row for each property. It is read before
 * the events, and held until these take it, so its size is bounded. Numbers of `data_type` are those of Umami's constants.
 */
import { importedDataCharactersMax } from '../../schemas/limits/event-limits.ts'
import { CommandFailed } from '../command.ts'
import { type Mapped, textOf } from './imported-event.ts'
import type { CsvRow } from './read-csv.ts'

type Properties = Record<string, unknown>

export interface EventData {
  /** Keeps a row's property for its event. No row has an event of its own. */
  keep(row: CsvRow): Mapped
  /** The event's properties, once: then they are forgotten. */
  take(eventId: string): Readonly<Properties>
}

const dataTypes = { text: '1', number: '2', boolean: '3', date: '4', list: '5' }

export function makeEventData(): EventData {
  const kept = new Map<string, Properties>()
  let characters = 0
  return {
    keep: ({ line, isWhole }) => {
      if (!isWhole) return { refused: 'the line has another number of cells than the first one' }
      // Called so in Umami Cloud's export and in Postgres.
      const eventId = textOf(line['event_id']) ?? textOf(line['website_event_id'])
      const key = textOf(line['data_key'])
      if (eventId === undefined) return { refused: 'event_id: Field required' }
      if (key === undefined) return { refused: 'data_key: Field required' }
      const value = readValue(line)
      if (value === undefined) return { refused: `data_type: no value of the type ${line['data_type'] ?? 'missing'}` }
      characters += eventId.length + key.length + String(value).length
      if (characters > importedDataCharactersMax) {
        throw new CommandFailed(
          `the file of --event-data has more than ${importedDataCharactersMax} characters: split it and the events by time`,
        )
      }
      const properties = kept.get(eventId) ?? makeProperties()
      properties[key] = value
      kept.set(eventId, properties)
      return []
    },
    take: (eventId) => {
      const properties = kept.get(eventId) ?? {}
      kept.delete(eventId)
      return properties
    },
  }
}

/** A key may be `__proto__`. */
function makeProperties(): Properties {
  return Object.create(null) as Properties
}

function readValue(line: CsvRow['line']): unknown {
  const text = textOf(line['string_value'])
  switch (line['data_type']) {
    case dataTypes.text:
      return text ?? ''
    case dataTypes.number: {
      const number = Number(textOf(line['number_value']) ?? text ?? Number.NaN)
      return Number.isFinite(number) ? number : undefined
    }
    case dataTypes.boolean:
      return text === 'true' ? true : text === 'false' ? false : undefined
    case dataTypes.date:
      return textOf(line['date_value']) ?? text
    // JSON of a list, which stays the text that Umami has.
    case dataTypes.list:
      return text
    default:
      return undefined
  }
}
