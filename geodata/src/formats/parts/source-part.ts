import { opendir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { SourceError } from '../../source-error.ts'

/** One of the files whose rows are published together. */
export interface SourcePart {
  path: string
  /** The name for messages. */
  file: string
  keys: PartitionKey[]
}

/** A folder named `key=value`, as Hive, Spark and DuckDB partition a table. Null is Hive's name for no value. */
export interface PartitionKey {
  name: string
  value: string | null
}

/** Each part is opened once to compare its columns, and once in each thread that reads it. */
export const MAX_PARTS = 10_000
const PARQUET = /\.(geo)?parquet$|\.pq$/i
const NO_VALUE = '__HIVE_DEFAULT_PARTITION__'

export function isParquetName(name: string): boolean {
  return PARQUET.test(name)
}

/** Parts in the order of their names, by which rows are numbered. `name` is the path with the partition's folders. */
export function sourceParts(
  file: string,
  named: { path: string; name: string; file: string }[],
): SourcePart[] {
  if (named.length > MAX_PARTS)
    throw new SourceError(`${file} has ${named.length} files; at most ${MAX_PARTS} are read together.`)
  const other = named.find(({ name }) => !isParquetName(name))
  if (other)
    throw new SourceError(
      `${other.file} is not a Parquet file by its name. Several files are published together if all of them are Parquet.`,
    )
  const parts = named
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map((part) => ({ path: part.path, file: part.file, keys: partitionKeys(part.name, part.file) }))
  const names = parts[0]?.keys.map(({ name }) => name).join('/')
  const odd = parts.find(({ keys }) => keys.map(({ name }) => name).join('/') !== names)
  if (odd)
    throw new SourceError(
      `${odd.file} is in other folders of the form key=value than ${parts[0]!.file}. All files of a dataset have the same keys.`,
    )
  return parts
}

/** The Parquet files of a folder and of those in it. Names that begin with `_` or `.` are notes of other programs. */
export async function partsOfFolder(folder: string, file: string): Promise<SourcePart[]> {
  const named: { path: string; name: string; file: string }[] = []
  const open = [folder]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for await (const entry of await opendir(path)) {
      if (/^[_.]/.test(entry.name)) continue
      const inner = join(path, entry.name)
      // Links are neither files nor folders here: they may lead anywhere.
      if (entry.isDirectory()) open.push(inner)
      else if (entry.isFile() && isParquetName(entry.name)) {
        const name = relative(folder, inner)
        named.push({ path: inner, name, file: `${file}/${name}` })
      }
      if (named.length > MAX_PARTS || open.length > MAX_PARTS)
        throw new SourceError(
          `${file} has more than ${MAX_PARTS} files; at most ${MAX_PARTS} are read together.`,
        )
    }
  }
  if (named.length === 0)
    throw new SourceError(`${file} is a folder without Parquet files. A folder is published if it has some.`)
  return sourceParts(file, named)
}

function partitionKeys(name: string, file: string): PartitionKey[] {
  const keys = name
    .split('/')
    .slice(0, -1)
    .flatMap((folder): PartitionKey[] => {
      const [, key, value] = /^([^=]+)=(.*)$/.exec(folder) ?? []
      if (key === undefined) return []
      return [{ name: decoded(key), value: value === NO_VALUE ? null : decoded(value!) }]
    })
  const repeated = keys.find(({ name: key }, i) => keys.some((each, j) => j < i && each.name === key))
  if (repeated) throw new SourceError(`${file} has the key ${repeated.name} twice in its folders.`)
  return keys
}

/** Spark and DuckDB write characters that are not for file names as in addresses. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
