/** A parsed PROJ string: the projection for proj4, and what it states about the datum. */
export interface ProjText {
  /** A PROJ string for proj4 without a datum shift. */
  definition: string
  semiMajorAxis: number
  /** 0 for a sphere. */
  inverseFlattening: number
  /** The geographic CRS of `+datum`, as an EPSG code. */
  base: number | null
  /** The parameters of `+towgs84`. */
  shift: number[] | null
  /** Whether the string states that its geographic coordinates are WGS84, whatever its ellipsoid. */
  isWgs84: boolean
}

/** proj4 has no defaults for these; a missing parameter becomes NaN. Values stated later override them. */
export const PROJ_DEFAULTS = '+lat_0=0 +lon_0=0 +x_0=0 +y_0=0 '

/** The projections that proj4 computes like PROJ; the test of the list compares each with PROJ. */
const PROJECTIONS = new Set(
  'longlat latlong lonlat latlon utm tmerc etmerc lcc aea eqdc cass omerc somerc stere sterea laea aeqd merc poly eqc cea krovak nzmg eqearth mill moll robin sinu eck6 vandg bonne'.split(
    ' ',
  ),
)
/** PROJ computes these on the ellipsoid, proj4 on a sphere. */
const ON_SPHERE = new Set(['ortho', 'gnom'])

/** Semi-major axis and inverse flattening, by PROJ's names. */
const ELLIPSOIDS: { [name: string]: [number, number] } = {
  wgs84: [6378137, 298.257223563],
  grs80: [6378137, 298.257222101],
  wgs72: [6378135, 298.26],
  wgs66: [6378145, 298.25],
  wgs60: [6378165, 298.3],
  grs67: [6378160, 298.247167427],
  iau76: [6378140, 298.257],
  airy: [6377563.396, 299.3249646],
  mod_airy: [6377340.189, 299.3249373654824],
  aust_sa: [6378160, 298.25],
  bessel: [6377397.155, 299.1528128],
  bess_nam: [6377483.865, 299.1528128],
  clrk66: [6378206.4, 294.9786982138982],
  clrk80: [6378249.145, 293.4663],
  clrk80ign: [6378249.2, 293.4660212936269],
  evrst30: [6377276.345, 300.8017],
  evrst48: [6377304.063, 300.8017],
  evrst56: [6377301.243, 300.8017],
  evrst69: [6377295.664, 300.8017],
  evrstss: [6377298.556, 300.8017],
  fschr60: [6378166, 298.3],
  helmert: [6378200, 298.3],
  hough: [6378270, 297],
  intl: [6378388, 297],
  krass: [6378245, 298.3],
  nwl9d: [6378145, 298.25],
  gsk2011: [6378136.5, 298.2564151],
  pz90: [6378136, 298.25784],
  sgs85: [6378136, 298.257],
  merit: [6378137, 298.257],
  fschr60m: [6378155, 298.3],
  fschr68: [6378150, 298.3],
  seasia: [6378155, 298.3000002408657],
  danish: [6377019.2563, 300],
  andrae: [6377104.43, 300],
  new_intl: [6378157.5, 298.2496153900135],
  plessis: [6376523, 308.64099709583735],
  walbeck: [6376896, 302.78000018165636],
  sphere: [6370997, 0],
}

/** PROJ's datum names with their geographic CRS and ellipsoid. */
const DATUMS: { [name: string]: [base: number, ellipsoid: string] } = {
  wgs84: [4326, 'wgs84'],
  nad83: [4269, 'grs80'],
  nad27: [4267, 'clrk66'],
  ggrs87: [4121, 'grs80'],
  potsdam: [4314, 'bessel'],
  carthage: [4223, 'clrk80ign'],
  hermannskogel: [4312, 'bessel'],
  ire65: [4299, 'mod_airy'],
  nzgd49: [4272, 'intl'],
  osgb36: [4277, 'airy'],
}

const METRES: { [unit: string]: number } = {
  m: 1,
  km: 1000,
  dm: 0.1,
  cm: 0.01,
  mm: 0.001,
  in: 0.0254,
  ft: 0.3048,
  yd: 0.9144,
  mi: 1609.344,
  kmi: 1852,
  fath: 1.8288,
  ch: 20.1168,
  link: 0.201168,
  'us-in': 100 / 3937,
  'us-ft': 1200 / 3937,
  'us-yd': 3600 / 3937,
  'us-ch': 79200 / 3937,
  'us-mi': 6336000 / 3937,
  'ind-yd': 0.91439523,
  'ind-ft': 0.30479841,
  'ind-ch': 20.11669506,
}

/** Degrees east of Greenwich, by PROJ's names. */
const MERIDIANS: { [name: string]: number } = {
  greenwich: 0,
  lisbon: -9.131906111111112,
  paris: 2.337229166666667,
  bogota: -74.08091666666667,
  madrid: -3.687938888888889,
  rome: 12.452333333333334,
  bern: 7.439583333333333,
  jakarta: 106.80771944444444,
  ferro: -17.666666666666668,
  brussels: 4.367975,
  stockholm: 18.05827777777778,
  athens: 23.7163375,
  oslo: 10.722916666666666,
  copenhagen: 12.57788,
}

/** Parameters that do not affect the horizontal coordinates, or that are handled separately here. */
const DROPPED =
  /^(no_defs|defs|type|wktext|title|vunits|vto_meter|geoidgrids|towgs84|nadgrids|datum|ellps|a|b|rf|f|es|e|R|R_A|units|to_meter|proj)$/
const NUMBERS =
  'lat_0 lon_0 lat_1 lat_2 lat_ts lonc lon_1 lon_2 alpha gamma k k_0 x_0 y_0 pm zone a b rf R'.split(' ')
/** Parameters that proj4 ignores although they change the result. */
const UNSUPPORTED = /^(R_V|R_a|R_g|R_h|R_lat_a|R_lat_g|hyperbolic|guam|o_.*|geoc|sweep|h_0|alpha_0)$/

/** Returns null if it is not a PROJ string, or if proj4 does not support its projection. */
export function readProjText(text: string): ProjText | null {
  const values = new Map<string, string>()
  for (const [, name, value] of text.matchAll(/\+([A-Za-z0-9_]+)(?:\s*=\s*("[^"]*"|\S+))?/g))
    if (!values.has(name!)) values.set(name!, value ?? '')
  const meridian = MERIDIANS[values.get('pm')?.toLowerCase() ?? '']
  if (meridian !== undefined) values.set('pm', String(meridian))
  for (const name of NUMBERS) if (values.has(name) && !Number.isFinite(Number(values.get(name)))) return null
  const projection = values.get('proj')
  if (projection === undefined || [...values.keys()].some((name) => UNSUPPORTED.test(name))) return null
  const grid = values.get('nadgrids')
  const isWgs84 = grid === '@null'
  if (grid !== undefined && !isWgs84) return null
  const datum = DATUMS[values.get('datum')?.toLowerCase() ?? '']
  if (values.has('datum') && !datum) return null
  const [semiMajorAxis, inverseFlattening] = ellipsoidOf(values, datum?.[1])
  if (!(semiMajorAxis > 0) || !(inverseFlattening >= 0)) return null
  const isSphere = inverseFlattening === 0
  if (!PROJECTIONS.has(projection) && !(isSphere && ON_SPHERE.has(projection))) return null
  const parameters = [...values]
    .filter(([name]) => !DROPPED.test(name))
    .map(([name, value]) => (value === '' ? `+${name}` : `+${name}=${decimal(value)}`))
  const unit = unitOf(values)
  if (!(unit > 0)) return null
  const proj = /^l(ong?lat|atlong?|atlon|onlat)$/.test(projection) ? 'longlat' : projection
  const definition = [
    `+proj=${proj}`,
    ...parameters,
    isSphere ? `+R=${semiMajorAxis}` : `+a=${semiMajorAxis} +rf=${inverseFlattening}`,
    ...(unit === 1 ? [] : [`+to_meter=${decimal(String(unit))}`]),
  ].join(' ')
  const towgs84 = values.get('towgs84')?.split(',').map(Number)
  if (towgs84 && !(towgs84.every(Number.isFinite) && (towgs84.length === 3 || towgs84.length === 7)))
    return null
  return {
    definition,
    semiMajorAxis,
    inverseFlattening,
    base: datum && !towgs84 ? datum[0] : null,
    shift: towgs84 ?? null,
    isWgs84,
  }
}

function ellipsoidOf(values: Map<string, string>, ofDatum: string | undefined): [number, number] {
  const number = (name: string) => (values.has(name) ? Number(values.get(name)) : undefined)
  const named = ELLIPSOIDS[(ofDatum ?? values.get('ellps') ?? (values.has('a') ? '' : 'wgs84')).toLowerCase()]
  const radius = number('R')
  if (radius !== undefined) return [radius, 0]
  const a = number('a') ?? named?.[0] ?? Number.NaN
  const b = number('b')
  const rf = number('rf') ?? (values.has('f') ? 1 / number('f')! : undefined)
  const es = number('es')
  const inverse =
    rf ??
    (b !== undefined
      ? a === b
        ? 0
        : a / (a - b)
      : es !== undefined
        ? 1 / (1 - Math.sqrt(1 - es))
        : (named?.[1] ?? (values.has('a') ? 0 : Number.NaN)))
  if (!values.has('R_A') || inverse === 0) return [a, inverse]
  return [authalicRadius(a, inverse), 0]
}

/** The radius of the sphere that has the same surface area as the ellipsoid. */
export function authalicRadius(semiMajorAxis: number, inverseFlattening: number): number {
  if (inverseFlattening === 0) return semiMajorAxis
  const f = 1 / inverseFlattening
  const e2 = f * (2 - f)
  const e = Math.sqrt(e2)
  return semiMajorAxis * Math.sqrt(0.5 + ((1 - e2) / (2 * e)) * Math.atanh(e))
}

function unitOf(values: Map<string, string>): number {
  const [numerator, denominator = '1'] = (values.get('to_meter') ?? '').split('/')
  if (numerator) return Number(numerator) / Number(denominator)
  return METRES[values.get('units') ?? 'm'] ?? Number.NaN
}

/** Avoids exponents, because proj4 parses their plus sign as the start of a parameter. */
function decimal(value: string): string {
  return /^[-+]?[\d.]+e[-+]?\d+$/i.test(value) ? Number(value).toFixed(12) : value.replace(/^\+/, '')
}
