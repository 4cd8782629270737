/** The bounds of goals, with their unit and reason. */

/** Goals of a workspace. One statement counts all of them: each event is compared with each goal. */
export const goalsMax = 50
/** Unicode code points, as for other names that people give. */
export const goalNameLengthMax = 120
/** Unicode code points: in UTF-8 an entry of the index that keeps goals apart has room for them. */
export const goalValueLengthMax = 500
