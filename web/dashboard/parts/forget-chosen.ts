/** For a click on a field of files: a browser doesn't tell of the same file, chosen again. */
export function forgetChosen({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void {
  currentTarget.value = ''
}
