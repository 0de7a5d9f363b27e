import { type FeatureStream, isUnreadable, type Value } from '../../feature.ts'

/**
 * Makes columns JSON arrays that GDAL writes as `(2:x,y)`, because GeoPackage has no lists. A value that
 * contains commas itself cannot be told from two values: such a list stays as GDAL writes it, with a note.
 */
export function withLists(stream: FeatureStream, names: Set<string>): FeatureStream {
  const columns = stream.columns.flatMap(({ name }, i) => (names.has(name) ? [i] : []))
  if (columns.length === 0) return stream
  for (const i of columns) stream.columns[i]!.type = 'json'
  const batches = stream.batches.bind(stream)
  let ambiguous = 0
  stream.batches = async function* () {
    for await (const batch of batches()) {
      for (const row of batch) {
        if (isUnreadable(row)) continue
        for (const i of columns) {
          const list = listOf(row.values[i]!)
          if (list === undefined) ambiguous++
          else row.values[i] = list
        }
      }
      yield batch
    }
    if (ambiguous > 0)
      stream.notes.push(
        ambiguous === 1
          ? '1 list of repeated values is published as GDAL writes it, such as (2:a,b), because a value in it contains a comma.'
          : `${ambiguous} lists of repeated values are published as GDAL writes them, such as (2:a,b), because values in them contain commas.`,
      )
  }
  return stream
}

/** Undefined if the text does not say where its values begin and end. */
function listOf(value: Value): Value | undefined {
  if (typeof value !== 'string') return value
  const [, count, text] = /^\((\d+):(.*)\)$/s.exec(value) ?? []
  if (text === undefined) return undefined
  if (count === '0') return []
  const values = count === '1' ? [text] : text.split(',')
  return values.length === Number(count) ? values : undefined
}
