import { SourceError } from '@wayleave/geodata/compile'
import { axisOrder, crsCode, type Position, type Transform, transformer } from '@wayleave/geodata/geometry'
import type { Manifest } from '@wayleave/geodata/snapshot'
import { invalidInput } from '../../base/problem.ts'
import { SettingError } from '../../base/settings/config.ts'
import type { ManifestSummary } from '../../data/catalog/dataset.ts'

/** A coordinate reference system of returned features or of given boxes. */
export interface Crs {
  uri: string
  /** The value of the header `Content-Crs`. */
  header: string
  /** `OGC:CRS84`, `EPSG:<code>` or `ESRI:<code>`. */
  code: string
  /** Null if the CRS's coordinates are longitude and latitude. Positions are x first on both sides. */
  fromWgs84: Transform | null
  toWgs84: Transform | null
  /** Whether positions are written latitude (northing) first. */
  northingFirst: boolean
  /** Whether a box in this CRS is also a box in longitude and latitude. */
  rectangular: boolean
  /** The latitude at which the CRS ends in the north and in the south; null if it includes the poles. */
  maxLatitude: number | null
}

const WGS84 = 'OGC:CRS84'
const MERCATOR = 'EPSG:3857'
/** Web Mercator is a square: its edges in the north and south are as far from the equator as those in east and west. */
const MERCATOR_LATITUDE = (Math.atan(Math.sinh(Math.PI)) * 180) / Math.PI

export const CRS84: Crs = describe(WGS84)

const CRS84H_URI = defUri('OGC/0/CRS84h')

/** CRS84 with heights above the ellipsoid: the CRS of features whose positions have heights. */
const CRS84H: Crs = { ...CRS84, uri: CRS84H_URI, header: `<${CRS84H_URI}>`, code: 'OGC:CRS84h' }

/** The CRS in which a dataset's features are stored, and in which they are returned by default. */
export function storageCrs({ hasZ }: Pick<Manifest, 'hasZ'>): Crs {
  return hasZ ? CRS84H : CRS84
}

/** Whether geometries in this CRS are exactly those of the pack. */
export function isPackCrs({ fromWgs84, northingFirst }: Crs): boolean {
  return fromWgs84 === null && !northingFirst
}

function describe(code: string): Crs {
  const [authority, number] = code.split(':')
  const transform = transformer(WGS84, code)
  const maxLatitude = code === MERCATOR ? MERCATOR_LATITUDE : null
  const fromWgs84 =
    transform === null || maxLatitude === null
      ? transform
      : (position: Position) => transform(withLatitude(position, maxLatitude))
  const uri = defUri(code === WGS84 ? 'OGC/1.3/CRS84' : `${authority}/0/${number}`)
  return {
    uri,
    header: `<${uri}>`,
    code,
    fromWgs84,
    toWgs84: transformer(code, WGS84),
    northingFirst: axisOrder(code) === 'northing-first',
    rectangular: fromWgs84 === null || code === MERCATOR,
    maxLatitude,
  }
}

/** The position, moved to the max latitude if it is beyond. */
function withLatitude(position: Position, max: number): Position {
  const latitude = position[1]!
  if (Math.abs(latitude) <= max) return position
  return position.map((value, axis) => (axis === 1 ? Math.sign(latitude) * max : value))
}

function defUri(path: string): string {
  return `http://www.opengis.net/def/crs/${path}`
}

/** The CRSs that every collection offers and, for each collection, the CRS of its source. */
export class CrsList {
  readonly #common: Crs[]
  readonly #described = new Map<string, Crs>()
  readonly #ofDatasets = new WeakMap<ManifestSummary, Crs[]>()

  /** `more` are the codes of the setting; an unknown code throws at startup. */
  constructor(more: readonly string[]) {
    const codes = more.map((name) => {
      const code = codeOf(name)
      if (code === null) throw new SettingError(`WAYLEAVE_CRS: "${name}" is not an EPSG code that we know.`)
      return code
    })
    this.#common = [WGS84, 'EPSG:4326', MERCATOR, ...codes]
      .filter((code, i, all) => all.indexOf(code) === i)
      .map((code) => this.#get(code))
  }

  get common(): readonly Crs[] {
    return this.#common
  }

  of(manifest: ManifestSummary): readonly Crs[] {
    if (manifest.geometryType === null) return this.#common.slice(0, 1)
    let offered = this.#ofDatasets.get(manifest)
    if (!offered) {
      const own = manifest.source.crs === null ? null : codeOf(manifest.source.crs)
      const isCommon = own === null || this.#common.some(({ code }) => code === own)
      const both = isCommon ? this.#common : [...this.#common, this.#get(own)]
      // The default comes first.
      offered = manifest.hasZ ? [CRS84H, ...both] : both
      this.#ofDatasets.set(manifest, offered)
    }
    return offered
  }

  /**
   * The CRS that a parameter names as a URI, a URN or a code. Throws 400 if the collection does not offer it.
   */
  named(parameter: string, text: string, manifest: ManifestSummary): Crs {
    if (text === CRS84.uri) return CRS84
    const bare = /^\[(.+)\]$/.exec(text)?.[1] ?? text
    const offered = this.of(manifest)
    const isNamed = /^(https?:|urn:|EPSG:|ESRI:|OGC:)/i.test(bare)
    const code = isCrs84h(bare) ? CRS84H.code : isNamed ? codeOf(bare) : null
    const matchingCrs =
      code === null ? undefined : offered.find((crs) => crs.code === code && isInOrder(crs, bare))
    if (matchingCrs) return matchingCrs
    throw invalidInput(parameter, `must be one of ${offered.map(({ uri }) => uri).join(', ')}`)
  }

  #get(code: string): Crs {
    let crs = code === WGS84 ? CRS84 : this.#described.get(code)
    if (!crs) {
      crs = describe(code)
      this.#described.set(code, crs)
    }
    return crs
  }
}

/** Whether a name means the CRS's own order of axes: `OGC:CRS83` is `EPSG:4269` with longitude first. */
function isInOrder({ northingFirst }: Crs, name: string): boolean {
  return northingFirst === (axisOrder(name) === 'northing-first')
}

/** The URI, the URN or the code of CRS84h, whatever the version of the list of CRSs. */
function isCrs84h(text: string): boolean {
  return /^(https?:\/\/www\.opengis\.net\/def\/crs\/OGC\/[\d.]+\/|urn:ogc:def:crs:OGC:[\d.]*:|OGC:)CRS84h$/i.test(
    text,
  )
}

function codeOf(text: string): string | null {
  try {
    return crsCode(text)
  } catch (error) {
    if (error instanceof SourceError) return null
    throw error
  }
}
