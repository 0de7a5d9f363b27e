import type { SeededRandom } from '../seeded-random.ts'

/**
 * The content of a file that the drills publish. Its rows are derived only from its stamp, so that the
 * service's responses can be compared with rows that were computed here, without the service's own code.
 */
export interface Source {
  /** Unique among all files of a run, and part of every row. */
  stamp: string
  rows: number
  format: 'geojson' | 'csv'
}

interface Row {
  number: number
  stamp: string
  name: string
  value: number
  longitude: number
  latitude: number
}

export function newSource(random: SeededRandom, sequence: number, maxRows: number): Source {
  // Most files are small. A few take long enough to compile that a kill can happen meanwhile.
  const rows = random.chance(0.15) ? random.integer(maxRows / 2, maxRows) : random.integer(1, 60)
  const stamp = `stamp-${String(sequence).padStart(6, '0')}`
  return { stamp, rows, format: random.pick(['geojson', 'csv'] as const) }
}

/** The stamp of the file from which some bytes were made; null if they contain none. */
export function stampIn(bytes: Buffer): string | null {
  return /stamp-\d{6}/.exec(bytes.subarray(0, 64 * 1024).toString('latin1'))?.[0] ?? null
}

export function fileOf(source: Source): Buffer {
  const rows = rowsOf(source)
  if (source.format === 'csv') {
    const lines = rows.map((row) => Object.values(row).join(','))
    return Buffer.from(`number,stamp,name,value,longitude,latitude\n${lines.join('\n')}\n`)
  }
  const features = rows.map(({ longitude, latitude, ...properties }) => ({
    type: 'Feature',
    properties,
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
  }))
  return Buffer.from(JSON.stringify({ type: 'FeatureCollection', features }))
}

/** How a download of the source differs from what was published; null if it does not. */
export function differenceFrom(
  source: Source,
  format: 'geojson' | 'csv' | 'json',
  bytes: Buffer,
): string | null {
  try {
    return compareRows(source, readers[format](bytes))
  } catch (error) {
    return `${bytes.length} bytes that cannot be parsed as ${format}: ${(error as Error).message}`
  }
}

/** How the features of all pages together differ from what was published; null if they do not. */
export function featuresDifference(source: Source, features: GeoJsonFeature[]): string | null {
  return compareRows(source, features.map(rowOfFeature))
}

/** How the free sample differs: each of its rows must be one of the source's. */
export function sampleDifference(source: Source, bytes: Buffer): string | null {
  try {
    const sample = readers.json(bytes)
    if (sample.length === 0) return 'a sample without rows'
    const expected = rowsOf(source)
    for (const row of sample) {
      const original = expected[row.number]
      if (!original || !isEqual(row, original)) return `a sample row ${JSON.stringify(row)}`
    }
    return null
  } catch (error) {
    return `a sample that cannot be parsed: ${(error as Error).message}`
  }
}

export interface GeoJsonFeature {
  properties: Omit<Row, 'longitude' | 'latitude'>
  geometry: { coordinates: [number, number] } | null
}

const readers = {
  geojson: (bytes: Buffer): Row[] =>
    (JSON.parse(bytes.toString()) as { features: GeoJsonFeature[] }).features.map(rowOfFeature),
  json: (bytes: Buffer): Row[] => JSON.parse(bytes.toString()) as Row[],
  csv: (bytes: Buffer): Row[] => {
    const [head, ...lines] = bytes.toString().trimEnd().split(/\r?\n/)
    const names = head!.replace(/^\uFEFF/, '').split(',')
    return lines.map((line) => {
      const values = Object.fromEntries(line.split(',').map((text, i) => [names[i]!, text]))
      return {
        number: Number(values['number']),
        stamp: values['stamp']!,
        name: values['name']!,
        value: Number(values['value']),
        longitude: Number(values['longitude']),
        latitude: Number(values['latitude']),
      }
    })
  },
}

function rowOfFeature({ properties, geometry }: GeoJsonFeature): Row {
  const [longitude = Number.NaN, latitude = Number.NaN] = geometry?.coordinates ?? []
  return { ...properties, longitude, latitude }
}

/** The service may change only the order of the rows. */
function compareRows(source: Source, rows: Row[]): string | null {
  if (rows.length !== source.rows) return `${rows.length} rows instead of ${source.rows}`
  const expected = rowsOf(source)
  const seen = new Set<number>()
  for (const row of rows) {
    const original = expected[row.number]
    if (!original || !isEqual(row, original)) return `a row ${JSON.stringify(row)}`
    seen.add(row.number)
  }
  return seen.size === source.rows ? null : `only ${seen.size} distinct rows of ${source.rows}`
}

function isEqual(row: Row, original: Row): boolean {
  return (Object.keys(original) as (keyof Row)[]).every((name) => row[name] === original[name])
}

function rowsOf({ stamp, rows }: Source): Row[] {
  const start = Number(stamp.slice(-6))
  return Array.from({ length: rows }, (_, number) => {
    const mixed = Math.imul(start * 100_003 + number + 1, 2_654_435_761) >>> 0
    return {
      number,
      stamp,
      name: `${stamp} ${mixed.toString(36)}`,
      value: mixed % 1_000_003,
      longitude: ((mixed % 35_999) - 17_999) / 100,
      latitude: (((mixed >>> 8) % 17_999) - 8_999) / 100,
    }
  })
}
