/** The bounds of notes, with their unit and reason. */

/** Notes of a workspace: an answer may have all of them. */
export const notesMax = 500
/** Unicode code points of a text: one line or two beside the chart. */
export const noteTextLengthMax = 200
