/** The names that usage reports have for the same calls, by the pattern of the route; the first that matches. */
const OPERATIONS: readonly [pattern: RegExp, operation: string][] = [
  [/^\/v1\/admin\//, 'administration'],
  [/\/archives\/[^/]+\/files\//, 'archive'],
  [/\/files\//, 'download'],
  [/\/sample\b/, 'sample'],
  [/\/items\/:/, 'item'],
  [/\/tiles\/.*:tileCol/, 'tiles'],
  [/\/(items|search|facets|extract|aggregate)$/, '$1'],
  [/^\/v1\/(ogc|records)\b/, 'collections'],
  [/^\/v1\/dataset/, 'metadata'],
  [/^\/mcp\b/, 'mcp'],
]

/** There are as many entries as routes. */
const known = new Map<string, string>()

export function operationOf(method: string, route: string): string {
  if (route.startsWith('/v1/dataset') && method !== 'GET' && method !== 'HEAD') return 'publish'
  let operation = known.get(route)
  if (operation === undefined) {
    const match = OPERATIONS.find(([pattern]) => pattern.test(route))
    operation = match ? match[1].replace('$1', match[0].exec(route)![1] ?? '') : 'other'
    known.set(route, operation)
  }
  return operation
}

/** The dataset in a path; empty if it names none. Nothing of the query is recorded: its values may be personal. */
export function tableIn(url: string): string {
  const match = /^\/v1\/(?:dataset|ogc\/collections)\/([a-z][a-z0-9_]{0,62})(?=[/?]|$)/.exec(url)
  return match?.[1] ?? ''
}
