/** Which rows of the aggregate tables count: those of generations that Postgres names, but for hours computed anew since. */
import type { AggregateReset } from '../../schemas/aggregate-snapshot.ts'
import type { BoundSql } from '../bound-sql.ts'

/** A generation is the number of the attempt that wrote it × this + its UTC day since 1970. */
const daysPerAttempt = 65_536

export function generationOf(attempt: number, day: number): number {
  return attempt * daysPerAttempt + day
}

export function attemptOfGeneration(generation: number): number {
  return Math.floor(generation / daysPerAttempt)
}

export function dayOfGeneration(generation: number): number {
  return generation % daysPerAttempt
}

/** Hours since 1970 fit below it until the year 2448, and with every id of a workspace the key is exact as a number. */
const hoursPerWorkspace = 4_194_304

/** An hour of a workspace as one number. */
export function keyOfHour({ workspaceId, hour }: { workspaceId: number; hour: number }): number {
  return workspaceId * hoursPerWorkspace + hour
}

/** SQL of the same, over `workspace_id` and `hour`. */
export function keyOfHourSql(hour = 'hour'): string {
  return `toUInt64(workspace_id) * ${hoursPerWorkspace} + ${hour}`
}

export interface LiveRows {
  readonly generations: readonly number[]
  readonly resets: readonly AggregateReset[]
}

/** SQL condition over any aggregate table. `name` tells its parameters from those of other conditions of the statement. */
export function liveRowsIn({ generations, resets }: LiveRows, name = 'live'): BoundSql {
  if (generations.length === 0) return { sql: '0', params: {} }
  const isLive = `generation IN {${name}:Array(UInt64)}`
  if (resets.length === 0) return { sql: isLive, params: { [name]: generations } }
  return {
    sql: `${isLive} AND generation >= transform(${keyOfHourSql()},
      {${name}_reset_keys:Array(UInt64)}, {${name}_reset_to:Array(UInt64)}, toUInt64(0))`,
    params: {
      [name]: generations,
      [`${name}_reset_keys`]: resets.map(keyOfHour),
      [`${name}_reset_to`]: resets.map(({ generation }) => generation),
    },
  }
}
