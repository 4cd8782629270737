/** Classes of screens by their width in CSS pixels: the widths at which common grids change. Wide ones first. */
export const screenClasses = [
  { widthMin: 1440, key: '1440+', label: '1440 px and more' },
  { widthMin: 992, key: '992-1439', label: '992–1439 px' },
  { widthMin: 576, key: '576-991', label: '576–991 px' },
  { widthMin: 1, key: '1-575', label: 'Under 576 px' },
] as const
