/** English names of languages, from the data of Intl. */
const names = new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard', fallback: 'none' })

/** The name of a language with its region, as in `German` and `English (United States)`; the tag itself where it has none. */
export function languageName(tag: string): string {
  if (!/^[a-z]{2,3}(-([A-Z]{2}|[0-9]{3}))?$/.test(tag)) return tag
  return names.of(tag) ?? tag
}
