/** The bounds of saved funnels, with their unit and reason. Those of their steps are in overview-limits.ts. */

/** Saved funnels of a workspace: the page of funnels has all of them. */
export const savedFunnelsMax = 100
/** Unicode code points, as for other names that people give. */
export const savedFunnelNameLengthMax = 120
