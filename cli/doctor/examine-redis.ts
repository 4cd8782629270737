/** Redis, as far as counting once rests on it: what it forgets may be counted twice when it is sent again. */
import type { Config } from '../../runtime/config.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import { type Finding, failed, lineOf, ok, warning } from './finding.ts'
import type { RedisProbe } from './redis-probe.ts'

/** Under a tenth of its memory free. */
const memoryShareMax = 0.9
/** Below this time a rate says nothing. */
const rateOverHoursMin = 0.25

export async function examineRedis(redis: RedisProbe, config: Config): Promise<Finding[]> {
  const info = await redis.info()
  return [...memory(info), ...durability(info), await claims(redis, config)]
}

type Info = Readonly<Record<string, string>>

function memory({ maxmemory_policy: policy, maxmemory, used_memory: used }: Info): Finding[] {
  const findings: Finding[] = []
  const bound = Number(maxmemory ?? 0)
  if (policy !== 'noeviction') {
    const why = 'it may drop claims and jobs: set maxmemory-policy noeviction'
    findings.push(failed('redis.memory', `its maxmemory-policy is ${policy}, ${why}`))
  }
  if (bound > 0 && Number(used) > bound * memoryShareMax) {
    const share = Math.round((Number(used) / bound) * 100)
    findings.push(warning('redis.memory', `${share} % of its maxmemory are used: raise it, or lower DEDUP_CLAIMS_MAX`))
  }
  return findings.length > 0 ? findings : [ok('redis.memory', 'it evicts nothing')]
}

function durability({ aof_enabled, aof_last_write_status: lastWrite, role }: Info): Finding[] {
  if (role !== undefined && role !== 'master') {
    return [failed('redis.durability', 'is a replica, which takes no writes: name the primary in REDIS_URL')]
  }
  if (aof_enabled !== '1') {
    const why = 'a restart forgets claims, so that repeats count twice: set appendonly yes'
    return [warning('redis.durability', `it keeps no append-only file, ${why}`)]
  }
  if (lastWrite !== undefined && lastWrite !== 'ok') {
    return [failed('redis.durability', 'it can not write its append-only file: look at its disk and its log')]
  }
  return [ok('redis.durability', 'it keeps an append-only file')]
}

/** For how long a client event id is known over all nodes, and whether that will grow to the whole window. */
async function claims(redis: RedisProbe, { dedupWindowHours, dedupClaimsMax }: Config): Promise<Finding> {
  const held = await redis.readClaims(dedupWindowHours).catch((error) => lineOf(error))
  if (typeof held === 'string') {
    return failed('dedup.claims', `needs the database after the one that REDIS_URL names: ${held}`)
  }
  const { since, claims: count } = held
  if (since === null) return ok('dedup.claims', 'no client event id was claimed yet')
  const hours = Math.max(0, (await redis.now()) - since) / hourMs
  if (hours >= dedupWindowHours) {
    return ok('dedup.claims', `client event ids are known on all nodes for ${dedupWindowHours} hours`)
  }
  const text = `client event ids are known on all nodes for ${round(hours)} of ${dedupWindowHours} hours`
  // Up to one and a half windows are held at a time.
  const wanted = hours < rateOverHoursMin ? 0 : Math.ceil((count / hours) * dedupWindowHours * 1.5)
  if (wanted > dedupClaimsMax) {
    return warning('dedup.claims', `${text}, and at this rate for no longer: raise DEDUP_CLAIMS_MAX to ${wanted}`)
  }
  return ok('dedup.claims', `${text}, and growing since the first one or since Redis was emptied`)
}

function round(hours: number): number {
  return Math.round(hours * 10) / 10
}
