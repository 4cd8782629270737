/**
 * The outlines of countries as SVG paths, from world-atlas (Natural Earth, 1:110 million), which names countries alone. Projected by Natural Earth's own projection (Šavrič et al., 2015), one unit being 1/960 of the width.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { countryOfName } from '../../schemas/reference/country-names.ts'

type Point = readonly [number, number]
interface Shape {
  readonly type: 'Polygon' | 'MultiPolygon'
  readonly arcs: readonly (readonly number[])[] | readonly (readonly (readonly number[])[])[]
  readonly properties: { readonly name: string }
}
interface Topology {
  readonly transform: { readonly scale: Point; readonly translate: Point }
  readonly arcs: readonly (readonly Point[])[]
  readonly objects: { readonly countries: { readonly geometries: readonly Shape[] } }
}

const mapWidth = 960
/** Nobody lives there, and it would take a fifth of the height. */
const leftOut = new Set(['Antarctica', 'Fr. S. Antarctic Lands'])
/** Names that are the map's own. Places without a code have none. */
const codes: Readonly<Record<string, string>> = {
  'United States of America': 'US',
  'Dem. Rep. Congo': 'CD',
  Congo: 'CG',
  'Dominican Rep.': 'DO',
  'Falkland Is.': 'FK',
  'Central African Rep.': 'CF',
  'Eq. Guinea': 'GQ',
  'Solomon Is.': 'SB',
  'Bosnia and Herz.': 'BA',
  'S. Sudan': 'SS',
  'W. Sahara': 'EH',
}

/** By ISO alpha-2 code; countries without one share the empty key. */
export function drawWorld(): Record<string, string> {
  const file = createRequire(import.meta.url).resolve('world-atlas/countries-110m.json')
  const topology = JSON.parse(readFileSync(file, 'utf8')) as Topology
  const lines = topology.arcs.map((arc) => unpacked(arc, topology))
  const paths: Record<string, string> = {}
  for (const { type, arcs, properties } of topology.objects.countries.geometries) {
    if (leftOut.has(properties.name)) continue
    const polygons = (type === 'Polygon' ? [arcs] : arcs) as readonly (readonly (readonly number[])[])[]
    const path = polygons.flatMap((rings) => rings.map((ring) => drawn(ring, lines))).join('')
    const code = codes[properties.name] ?? countryOfName(properties.name) ?? ''
    paths[code] = (paths[code] ?? '') + path
  }
  return Object.fromEntries(Object.entries(paths).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Arcs are differences on a grid. */
function unpacked(arc: readonly Point[], { transform: { scale, translate } }: Topology): Point[] {
  let [x, y] = [0, 0]
  return arc.map(([dx, dy]) => {
    x += dx
    y += dy
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]]
  })
}

function projected(longitude: number, latitude: number): Point {
  const [lambda, phi] = [longitude, latitude].map((degrees) => (degrees * Math.PI) / 180) as [number, number]
  const p2 = phi * phi
  const p4 = p2 * p2
  const x = lambda * (0.8707 - 0.131979 * p2 + p4 * (-0.013791 + p4 * (0.003971 * p2 - 0.001529 * p4)))
  const y = phi * (1.007226 + p2 * (0.015085 + p4 * (-0.044475 + 0.028874 * p2 - 0.005916 * p4)))
  const unit = mapWidth / (2 * 0.8707 * Math.PI)
  return [mapWidth / 2 + x * unit, 230 - y * unit]
}

/** A negative number is an arc backwards. The last point of one arc is the first of the next. */
function drawn(ring: readonly number[], lines: readonly (readonly Point[])[]): string {
  const points = ring.flatMap((arc, at) => {
    const line = arc < 0 ? [...lines[~arc]!].reverse() : lines[arc]!
    return at === 0 ? line : line.slice(1)
  })
  const whole = unbroken(points)
  const longitudes = whole.map(([longitude]) => longitude)
  // An outline that crosses one edge is drawn at the other one, too; the picture cuts both.
  const turns = [0, ...(Math.max(...longitudes) > 180 ? [-360] : []), ...(Math.min(...longitudes) < -180 ? [360] : [])]
  return turns.map((turn) => outline(whole.map(([x, y]) => projected(x + turn, y)))).join('')
}

/** A ring over the 180th meridian goes on beyond it, instead of jumping to the other edge. */
function unbroken(points: readonly Point[]): Point[] {
  let turn = 0
  return points.map(([longitude, latitude], at) => {
    const before = points[at - 1]?.[0] ?? longitude
    if (longitude - before > 180) turn -= 360
    else if (before - longitude > 180) turn += 360
    return [longitude + turn, latitude]
  })
}

function outline(points: readonly Point[]): string {
  let text = ''
  let [atX, atY] = [0, 0]
  points.forEach(([x, y], at) => {
    // Tenths, each from the one before: a third shorter.
    const [tenX, tenY] = [Math.round(x * 10), Math.round(y * 10)]
    if (at > 0 && tenX === atX && tenY === atY) return
    const [dx, dy] = [(tenX - atX) / 10, (tenY - atY) / 10]
    text += at === 0 ? `M${dx} ${dy}` : `l${dx} ${dy}`
    ;[atX, atY] = [tenX, tenY]
  })
  return `${text}z`
}
