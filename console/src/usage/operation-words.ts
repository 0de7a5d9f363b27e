/** What people call an operation; the API and the metrics use the code. */
export const OPERATIONS: Readonly<Record<string, string>> = {
  download: 'File download',
  archive: 'Download of an older version',
  extract: 'Download of filtered rows',
  items: 'Pages of features',
  item: 'Single features',
  search: 'Search',
  facets: 'Counts of values',
  aggregate: 'Aggregates',
  tiles: 'Map tiles',
  collections: 'Descriptions of collections',
  metadata: 'Metadata',
  sample: 'Free sample',
  publish: 'Publishing',
  mcp: 'Assistants',
  administration: 'Administration',
  other: 'Other calls',
}

export function operationWords(operation: string): string {
  return OPERATIONS[operation] ?? operation
}
