/** The bounds of snippets (saved texts), with their unit and reason. */

/** Snippets of a workspace: the editor's menu has all of them. */
export const snippetsMax = 100
/** Unicode code points, as for other names that people give; a menu shows them in a line. */
export const snippetNameLengthMax = 60
/** Unicode code points: hashtags and a signature are part of a caption, and no caption. */
export const snippetTextLengthMax = 1_000
