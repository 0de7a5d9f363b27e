export type Value = string | number | boolean

/** Words that CQL2 reads as something else than a name. */
const RESERVED = new Set(
  `and or not like between in is null true false casei accenti div date timestamp interval bbox point linestring
  polygon multipoint multilinestring multipolygon geometrycollection`.split(/\s+/),
)

/** A column's name in CQL2 text, in quotes if it needs them. */
export function nameText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && !RESERVED.has(name.toLowerCase())
    ? name
    : `"${name.replaceAll('"', '""')}"`
}

/** A value in CQL2 text. `type` is the type of the column that it is compared with. */
export function literal(value: Value, type: string | undefined): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  const text = `'${value.replaceAll("'", "''")}'`
  if (type === 'date') return `DATE(${text})`
  if (type === 'timestamp') return `TIMESTAMP(${text})`
  // Integers that a JavaScript number cannot hold are texts here.
  if (type === 'integer' || type === 'number') return value
  return text
}

/** The inside of a LIKE pattern that matches texts which contain `text`. */
export function likePattern(text: string, around = '%'): string {
  return around + text.replace(/[\\%_]/g, '\\$&').replaceAll("'", "''") + around
}

/** Reverses `likePattern`; null if the pattern has other wildcards. */
export function textOfPattern(pattern: string, around = '%'): string | null {
  const inner = /^(?:[^%_\\]|\\.)*$/su
  const end = pattern.length - around.length
  const isAround = end >= around.length && pattern.startsWith(around) && pattern.endsWith(around)
  const text = pattern.slice(around.length, end)
  return isAround && inner.test(text) ? text.replace(/\\(.)/gsu, '$1') : null
}
