/** Filters under a name. */
import { segmentRows } from '../../../postgres/tables/figures/segments.ts'
import { segmentsMax } from '../../../schemas/limits/segment-limits.ts'
import { Segment, SegmentCreate, SegmentUpdate } from '../../../schemas/resources/segment.ts'
import { namedItems } from '../named-items.ts'

export const segmentOperations = namedItems({
  noun: 'segment',
  word: 'segment',
  tag: 'Analytics',
  toolset: 'analytics',
  reads: 'analytics:read',
  writes: 'analytics:write',
  isShared: true,
  rows: segmentRows,
  max: segmentsMax,
  // A value of a property may name somebody.
  isHiddenFromLinks: ({ filters }) => filters.event_property !== undefined,
  schemas: { one: Segment, create: SegmentCreate, update: SegmentUpdate },
  list: { summary: 'List the saved filters by their names.' },
  create: { summary: 'Save filters under a name.' },
  update: {
    summary: 'Change the name of saved filters, or the filters. Fields that are left out stay.',
    description: '`filters` replaces all of them.',
  },
  delete: { summary: 'Delete saved filters.' },
})
