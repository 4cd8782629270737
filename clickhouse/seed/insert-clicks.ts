/** Inserts made-up clicks on tracked links, for the demo workspace: those that its visits came by, and some more. */
import { cityKey } from '../../schemas/reference/places.ts'
import type { ClickHouse } from '../client.ts'
import { places } from './places.ts'
import type { SeedLink } from './rows-sql.ts'

interface Clicks {
  readonly workspaceId: number
  /** The id of the last one; those before it are taken too. */
  readonly lastId: number
  readonly links: readonly SeedLink[]
}

/** One visit of four has a second request before it: another person's, who left at once, or a program's that makes previews. */
export async function insertClicks(
  ch: Pick<ClickHouse, 'command'>,
  { workspaceId, lastId, links }: Clicks,
): Promise<void> {
  await ch.command(
    `INSERT INTO link_clicks (id, workspace_id, occurred_at, kind, visitor, link_id, device, way, country, event_name,
       referrer, browser, os, city, region_name, bot_name)
     SELECT {last_id:UInt64} - row_number() OVER (ORDER BY occurred_at, session, nth) + 1, workspace_id, occurred_at - INTERVAL 2 + 1000 * nth SECOND,
       if(nth = 1 AND draw % 12 = 0, 'preview', 'click') AS kind, cityHash64(visitor, nth), link_id,
       if(kind = 'click', toString(device), 'unknown'), if(kind = 'click' AND medium = 'qr' AND draw % 5 != 0, 'qr', 'link'),
       country, 'link_click_through', transform(link_id, {ids:Array(UInt32)}, {referrers:Array(String)}, ''),
       if(kind = 'click', browser, ''), if(kind = 'click', os, ''),
       transform(concat(region, ' ', city), {places:Array(String)}, {city_keys:Array(String)}, ''), region_name,
       if(kind = 'click', '', 'facebookexternalhit')
     FROM (SELECT *, cityHash64(visitor, link_id) AS draw FROM events
       WHERE workspace_id = {workspace:UInt32} AND link_id != 0 AND kind = 'pageview'
       ORDER BY occurred_at LIMIT 1 BY session)
     ARRAY JOIN range(if(draw % 4 = 0, 2, 1)) AS nth`,
    {
      workspace: workspaceId,
      last_id: lastId,
      ids: links.map(({ id }) => id),
      referrers: links.map(({ referrer }) => referrer),
      places: places.map(({ region, city }) => `${region} ${city}`),
      city_keys: places.map(({ region, city }) => cityKey(city, region, '')),
    },
  )
}
