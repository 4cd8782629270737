/** Funnels under a name. */
import { funnelRows } from '../../../postgres/tables/figures/saved-funnels.ts'
import { savedFunnelsMax } from '../../../schemas/limits/saved-funnel-limits.ts'
import { SavedFunnel, SavedFunnelCreate, SavedFunnelUpdate } from '../../../schemas/resources/saved-funnel.ts'
import { namedItems } from '../named-items.ts'

export const savedFunnelOperations = namedItems({
  noun: 'saved_funnel',
  word: 'funnel',
  tag: 'Analytics',
  toolset: 'analytics',
  reads: 'analytics:read',
  writes: 'analytics:write',
  isShared: true,
  rows: funnelRows,
  max: savedFunnelsMax,
  schemas: { one: SavedFunnel, create: SavedFunnelCreate, update: SavedFunnelUpdate },
  list: { summary: 'List the saved funnels by their names.' },
  create: { summary: 'Save the steps of a funnel under a name.' },
  update: {
    summary: 'Change a saved funnel. Fields that are left out stay.',
    description: '`steps` replaces all of them.',
  },
  delete: { summary: 'Delete a saved funnel.' },
})
