/** Bounds of a link's targets. The dashboard's form has them, too. */

/** Targets of a link: a choice that a form shows and a person keeps in mind. */
export const linkTargetsMax = 10
/** Countries of a target: more than there are. */
export const linkTargetCountriesMax = 300
/** Percent of visitors that targets with one audience take together: some are left for the next target or the destination. */
export const linkShareMax = 99
/** Pages of arrival that a link's results list: twice its targets, because one that was changed stays with its visitors. */
export const linkPagesMax = 20
