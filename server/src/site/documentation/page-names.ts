/** The pages in the order in which a new user reads them, by what they are for. */
export const PAGE_GROUPS = [
  ['Start', ['index', 'getting-started', 'tutorial', 'publish-in-five-minutes', 'gallery']],
  [
    'Use data',
    [
      'keys-and-access',
      'billing',
      'downloads',
      'explorer',
      'ogc',
      'cql2',
      'tiles',
      'python',
      'javascript',
      'assistants',
      'webhooks',
    ],
  ],
  [
    'Run the service',
    ['publishing', 'sources', 'operating', 'scaling', 'command-line', 'settings', 'problems'],
  ],
] as const

export const PAGES: readonly string[] = PAGE_GROUPS.flatMap(([, pages]) => pages)

/** The address in the examples of docs/, which each instance replaces by its own. */
export const EXAMPLE_ADDRESS = 'http://127.0.0.1:8080'
