/** `a viewer`, `an editor`. Apart from the scopes of roles, as the dashboard has no use for those. */
export function roleWithArticle(role: string): string {
  return `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`
}
