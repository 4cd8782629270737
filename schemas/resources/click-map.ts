/** Click maps: where visitors click on a page and how far they scroll, from recordings. docs/replay.md says what the figures mean. */
import { z } from 'zod'
import { dateTime } from './date-time.ts'
import { Range } from './range.ts'

const count = z.int().min(0)
const perCent = z.number().describe('In per cent.')

export const viewports = ['desktop', 'tablet', 'mobile'] as const
export type Viewport = (typeof viewports)[number]

const ClickMapElement = z
  .object({
    selector: z.string().describe('Tag, id, lasting classes and place, as CSS selects it.'),
    text: z.string().describe('As it was recorded, which is masked; empty where there is none.'),
    clicks: count,
    visitors: count,
    share: perCent.describe('Share of all clicks, in per cent.'),
    dead_clicks: count.describe('Nothing of the page changed within a second.'),
    rage_clicks: count.describe('Three clicks within a second and 30 pixels, or more.'),
  })
  .meta({ id: 'ClickMapElement' })

const ClickMapPoint = z
  .object({
    x: z.number().min(0).max(1).describe('As a fraction of the viewport’s width.'),
    y: count.describe('Pixels from the top of the page.'),
    element: count.nullable().describe('Its index in `elements`; null: the clicked one isn’t among them.'),
  })
  .meta({ id: 'ClickMapPoint' })

const ScrollBand = z
  .object({
    depth: z.int().describe('In per cent of the height.'),
    y: count.describe('The same in pixels.'),
    page_views: count.describe('That had it in sight.'),
    share: perCent,
  })
  .meta({ id: 'ScrollBand' })

const MappedPage = z
  .object({
    replay_id: z.int(),
    chunk_id: z.int().describe('The chunk of the replay that has the full snapshot.'),
    recorded_at: dateTime,
    width: z.int().describe('That of the viewport, in pixels.'),
    height: z.int(),
  })
  .meta({ id: 'MappedPage' })

export const ClickMap = z
  .object({
    range: Range,
    readable_from: dateTime.describe('Nothing before it is looked at.'),
    path: z.string(),
    device: z.enum(viewports),
    page_views: count.describe('Recorded ones that were read, with this viewport. The figures are of these.'),
    viewports: z
      .object({ desktop: count, tablet: count, mobile: count })
      .describe('All page views that were looked at, by their viewport.'),
    has_more: z.boolean().describe('There are older ones in the range, which weren’t read.'),
    cut_page_views: count.describe('Those in `page_views` that were too long: their ends weren’t read.'),
    visitors: count,
    clicks: count,
    cut_clicks: count.describe('Beyond the first 1,000 of their page views. They are in no other figure.'),
    dead_clicks: count,
    rage_clicks: count,
    elements: z.array(ClickMapElement).describe('By clicks, at most 100.'),
    points: z.array(ClickMapPoint).describe('Those of the newest page views first, at most 5,000.'),
    scroll: z.object({
      height: count.describe(
        'The lowest place that 5 % of them had in sight, and two at least where there are more, in pixels.',
      ),
      bands: z.array(ScrollBand).describe('Each 10 % of it; empty without page views.'),
    }),
    page: MappedPage.nullable().describe('The newest recording that began on the page; null: none did.'),
  })
  .meta({ id: 'ClickMap' })
export type ClickMap = z.output<typeof ClickMap>
