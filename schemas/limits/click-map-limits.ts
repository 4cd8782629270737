/** Bounds of click maps, which are computed from recordings when somebody asks for one. */
import { KiB, MiB, second } from './units.ts'

/** Page views of a map: the newest ones with the asked viewport. */
export const clickMapPageViewsMax = 200
/** Page views of any viewport that are looked at to find them. */
export const clickMapLooksMax = 400
/** Bytes of recordings that one map reads, as JSON or as they were sent. A snapshot of a large page has 3 MB. */
export const clickMapBytesMax = 32 * MiB
/** A chunk counts as so many bytes at least: reading and unpacking it takes time, however small it is. */
export const clickMapChunkBytesMin = 1 * KiB
/** The same of one page view, and its chunks. An hour of five-second chunks is 720. */
export const clickMapViewBytesMax = 8 * MiB
export const clickMapViewChunksMax = 720
/** Bytes that one statement reads: recordings of small pages come together. */
export const clickMapBatchBytesMax = 4 * MiB
/** Shares of `ANSWER_DEADLINE_MS`. A map that isn't ready by then has the page views that were read so far. */
export const clickMapShareOfAnswer = 0.35
/**
 * One map is computed at a time in a process: recordings take memory and much of a core, which other answers need. So many more
 * of one workspace wait.
 */
export const clickMapQueue = { isShared: true, atOnce: 1, waitingMax: 3, refusal: 'click_maps_full' } as const
/** Share of `ANSWER_DEADLINE_MS`. A map that waits longer is refused. One map takes less: the next workspace is served then. */
export const clickMapWaitShareOfAnswer = 0.4
/** Between two pauses, in which a process answers others. One chunk is parsed whole. */
export const clickMapSliceMs = 20

/** Clicks of a page view; later ones are in no figure but their own. */
export const clickMapViewClicksMax = 1_000
/** Clicks of a map: once it has them, older page views aren't read. Counting them holds up the process. */
export const clickMapClicksMax = 20_000
/** Rows of elements, and points. */
export const clickMapElementsMax = 100
export const clickMapPointsMax = 5_000
/** The scroll depth ends at the lowest place that this part of the page views saw, at least so many where there are more. */
export const clickMapDeepShare = 0.05
export const clickMapDeepViews = 2
/** A page's height, in pixels: clicks below it have no point. */
export const clickMapHeightMax = 100_000
/** A viewport's sides, in pixels. */
export const clickMapViewportMax = 20_000

/** So many clicks within this time and this distance are a rage click. */
export const rageClicks = 3
export const rageMs = 1 * second
export const ragePixels = 30
/** A click after which nothing changes for so long is dead. */
export const deadClickMs = 1 * second
/** So long after an app's change of pages, scrolling may still be that of the page before. */
export const ownScrollMs = 1 * second

/** Viewports from this width on are tablets, and desktops. */
export const tabletWidthMin = 768
export const desktopWidthMin = 1_024

/** Characters of an element's text, and of one id or class in its selector. */
export const elementTextMax = 80
export const elementNameMax = 40
/** Classes of an element that are looked at to find lasting ones. */
export const classesLookedAtMax = 16
/** Nodes that are read for one element's text, and siblings that are counted for its place. */
export const elementNodesMax = 200
export const siblingsCountedMax = 1_000
/** Elements of a selector, and parents that are looked at to find the link or button that was clicked. */
export const selectorPartsMax = 4
export const parentsLookedAtMax = 16
