/** Names of the filters of figures. They look at the session's entry, or its exit. Any pageview or event may have one of the last four. */
export const filterNames = [
  'source',
  'medium',
  'channel',
  'campaign',
  'entry_path',
  'exit_path',
  'device',
  'browser',
  'os',
  'country',
  'region',
  'city',
  'path',
  'hostname',
  'event',
  'event_property',
] as const
export type FilterName = (typeof filterNames)[number]
