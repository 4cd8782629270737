/** Goals of a workspace. Held by test/property/goals.test.ts. */
import type { FunnelStepKind } from '../../../schemas/funnel-steps.ts'
import { type NamedRow, namedRows } from '../named-rows.ts'

export interface StoredGoal extends NamedRow {
  readonly kind: FunnelStepKind
  readonly value: string
  /** Only events with it count; its value is a text as filters take it. Null: all events. */
  readonly property: { readonly name: string; readonly value: string } | null
}

export const goalRows = namedRows<StoredGoal>('goals', {
  columns: `id, name, kind, value, created_at,
    CASE WHEN property IS NOT NULL THEN json_build_object('name', property, 'value', property_value) END AS property`,
  order: 'id DESC',
  values: ({ name, kind, value, property }) => ({
    name,
    kind,
    value,
    property: property?.name,
    property_value: property?.value,
  }),
  isSame: `name = $3
    OR (kind, value) = ($4, $5) AND (property, property_value) IS NOT DISTINCT FROM ($6, $7)`,
})
