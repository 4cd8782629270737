/** The bounds of goals, with their unit and reason. */

/** Goals of a workspace. One statement counts all of them: each event is compared with each goal. */
export const goalsMax = 50
/** Unicode code points, as for other names that people give. */
export const goalNameLengthMax = 120
/** Unicode code points of a path, a name of events, or a property's value: far more than these have, as a rule. */
export const goalValueLengthMax = 500
