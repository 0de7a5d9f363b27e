import { nearestName } from './nearest-name.ts'

/** Names that other libraries use for the same option. */
const OTHER_NAMES: Record<string, string> = {
  key: 'apiKey',
  token: 'apiKey',
  url: 'baseUrl',
  host: 'baseUrl',
  endpoint: 'baseUrl',
  retries: 'maxRetries',
  properties: 'columns',
  fields: 'columns',
  select: 'columns',
  where: 'filter',
  cql: 'filter',
  extent: 'bbox',
  bounds: 'bbox',
  orderby: 'sortby',
  onprogress: 'onProgress',
  progress: 'onProgress',
}

/**
 * Throws a TypeError for an option that does not exist. Otherwise a misspelt option would silently change the
 * result or its price. Messages contain no values, because one of them may be a key.
 */
export function checkOptions(call: string, options: unknown, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`${call} takes its options as an object, such as { ${names[0]}: … }.`)
  }
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue
    const alias = OTHER_NAMES[name.toLowerCase()]
    const similar = alias && names.includes(alias) ? alias : nearestName(name, names)
    const hint = similar ? `Did you mean "${similar}"?` : `The options are ${names.join(', ')}.`
    throw new TypeError(`${call} has no option "${name}". ${hint}`)
  }
  checkNumbers(call, options)
}

function checkNumbers(call: string, options: { timeout?: unknown; maxRetries?: unknown }): void {
  const { timeout, maxRetries } = options
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout >= 0)) {
    throw new TypeError(`${call}: timeout takes milliseconds, 0 or more; 0 waits forever.`)
  }
  if (maxRetries !== undefined && !(typeof maxRetries === 'number' && maxRetries >= 0)) {
    throw new TypeError(`${call}: maxRetries takes a number, 0 or more.`)
  }
}

export function checkTable(call: string, table: unknown): void {
  if (typeof table === 'string' && table !== '') return
  const name = (table as { table?: unknown } | null | undefined)?.table
  const hint = typeof name === 'string' ? ' Pass the field `table` of the dataset.' : ''
  throw new TypeError(`${call} takes the name of a dataset first, such as 'places'.${hint}`)
}

export function checkFormat(call: string, format: unknown): void {
  if (typeof format === 'string' && format !== '') return
  throw new TypeError(`${call} takes the name of a format second, such as 'geojson' or 'csv'.`)
}

/** A box that cannot be right. The service would refuse it too, or return features of another place. */
export function checkBbox(bbox: unknown): void {
  if (bbox === undefined) return
  const order =
    'bbox takes four numbers in degrees of WGS84: west, south, east, north (longitude before latitude)'
  if (!Array.isArray(bbox) || ![4, 6].includes(bbox.length)) throw new TypeError(`${order}.`)
  if (!bbox.every((number) => typeof number === 'number' && Number.isFinite(number))) {
    throw new TypeError(`${order}; one of these is not a number: ${bbox.join(', ')}.`)
  }
  const [south, north] = [bbox[1], bbox[bbox.length / 2 + 1]] as [number, number]
  if (Math.abs(south) > 90 || Math.abs(north) > 90) {
    throw new RangeError(`${order}; in ${bbox.join(', ')} a latitude is beyond 90. Is the order right?`)
  }
  if (south > north) {
    throw new RangeError(`${order}; in ${bbox.join(', ')} the southern edge is north of the northern one.`)
  }
}
