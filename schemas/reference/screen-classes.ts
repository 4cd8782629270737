/** Classes of screens by their width in CSS pixels: the widths at which common grids change. Wide ones first. */
export const screenClasses = [
  { from: 1440, key: '1440+', label: '1440 px and more' },
  { from: 992, key: '992-1439', label: '992–1439 px' },
  { from: 576, key: '576-991', label: '576–991 px' },
  { from: 1, key: '1-575', label: 'Under 576 px' },
] as const
