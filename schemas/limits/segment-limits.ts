/** The bounds of segments, which are saved filters, with their unit and reason. */

/** Segments of a workspace: a menu has all of them. */
export const segmentsMax = 100
/** Unicode code points, as for other names that people give. */
export const segmentNameLengthMax = 120
/** Characters of all values together: the filters have to fit into an address. */
export const segmentFiltersLengthMax = 8_000
