/**
 * From the inside out, blocks of 64 events become visits, each with its beginning and its script of events. These become
 * events with their times, in the order of their receipt. constants-sql.ts has the names that stand for numbers and lists.
 */
import { kinds } from '../../schemas/event/row.ts'
import { bell, draw, evenly } from './draws-sql.ts'
import { wholeWeight } from './plan.ts'
import { inSteps, type Step } from './steps-sql.ts'
import { blockEvents, blockVisits, scripts, vitalCode } from './vocabulary.ts'

/** Shares of all visits. */
const convertingShare = 0.012
const identifyingShare = 0.003

const blocks = `
  SELECT place_of[range_number] AS w,
    first_block[range_number] + number - range_start[range_number] AS block
  FROM (SELECT number, indexOf(range_start, roundDown(number, range_start)) AS range_number
    FROM numbers(block_count))`

const visitsOfBlocks = `
  SELECT w, block, whole_length, visit_start, block * ${blockEvents} + visit_start AS visit_number,
    events_of[w] AS events_of_workspace, intDiv(events_of_workspace + ${blockEvents - 1}, ${blockEvents}) AS all_blocks
  FROM (SELECT w, block, block_visits[${evenly(blockVisits.length, 'seed, w, block', 0)}] AS lengths
    FROM (${blocks}))
  ARRAY JOIN lengths AS whole_length, arrayMap((up_to, own) -> up_to - own, arrayCumSum(lengths), lengths) AS visit_start
  WHERE visit_number < events_of_workspace`

/** Milliseconds from an event of the visit to the one before. */
const pause = `multiIf(
  nth = 1, 0,
  code > ${vitalCode}, 60 + 3000 * pow(${draw('visit, nth', 10)}, 2),
  code = ${kinds.page_leave}, least(480000, 400 + exp(9.7 + 1.1 * ${bell('visit, nth', 11)})),
  code = ${kinds.pageview}, 300 + 20000 * pow(${draw('visit, nth', 15)}, 3),
  1500 + 40000 * pow(${draw('visit, nth', 15)}, 2))`

const visitSteps: readonly Step[] = [
  {
    visit: 'cityHash64(seed, w, visit_number)',
    // The one that ends when the whole time does.
    is_last: `block + 1 = all_blocks
      AND (visit_start + whole_length = ${blockEvents} OR visit_number + whole_length >= events_of_workspace)`,
    visit_length: 'least(whole_length, events_of_workspace - visit_number)',
  },
  {
    // The part of the whole time's weight that lies before the visit.
    share: `(block + ${draw('visit', 1)}) / all_blocks`,
    plain_script: `scripts[visit_length][${evenly(scripts[0]!.length, 'visit', 2)}]`,
  },
  {
    weight: `if(is_last, ${wholeWeight - 1}, toUInt64(share * ${wholeWeight}))`,
    script: `arrayMap((code, nth) -> multiIf(
        nth = visit_length AND nth > 1 AND ${draw('visit', 3)} < ${convertingShare}, ${kinds.conversion},
        nth = 2 AND visit_length > 2 AND ${draw('visit', 4)} < ${identifyingShare}, ${kinds.identify},
        code), plain_script, arrayEnumerate(plain_script))`,
  },
  {
    weight_before: 'roundDown(weight, weights)',
    pauses: `arrayMap((code, nth) -> toUInt64(${pause}), script, arrayEnumerate(script))`,
    page_numbers: `arrayCumSum(code -> code = ${kinds.pageview}, script)`,
  },
  {
    offsets: 'arrayCumSum(pauses)',
    piece_start: 'transform(weight_before, weights, starts, toInt64(0))',
    piece_ms: 'transform(weight_before, weights, ends, toInt64(0)) - piece_start',
    piece_weight: 'transform(weight_before, weights, next_weights, toUInt64(0)) - weight_before',
  },
  {
    begun_at: `least(
      piece_start + toInt64(intDiv(piece_ms * (weight - weight_before), piece_weight)),
      until - toInt64(arraySum(pauses) + 1000 + cityHash64(visit, 5) % if(is_last, 1000, 60000)))`,
  },
]

const visits = `SELECT * FROM (${inSteps(visitSteps.slice(0, 3), visitsOfBlocks)})
  WHERE weight >= weight_from AND weight < weight_to`

export const eventsInOrder = `
  SELECT w, events_of_workspace, share, visit, visit_number, nth, code, pause, page_number, begun_at + toInt64(offset) AS at,
    at + 20 + toInt64(700 * pow(${draw('visit, nth', 20)}, 4)) AS received
  FROM (${inSteps(visitSteps.slice(3), visits)})
  ARRAY JOIN script AS code, arrayEnumerate(script) AS nth, pauses AS pause, offsets AS offset, page_numbers AS page_number
  WHERE received >= received_from AND received < received_to
  ORDER BY received, visit, nth`
