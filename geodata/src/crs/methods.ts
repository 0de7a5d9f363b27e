import { type CrsDescription, normalise, type ProjectedPart } from './description.ts'
import { authalicRadius, readProjText } from './proj-text.ts'

/** A projection for proj4: name, parameters (degrees, metres), and whether it is computed on a sphere. */
interface Method {
  proj: string
  values: { [parameter: string]: number | true | undefined }
  /** The sphere's radius; the ellipsoid is used if absent. */
  radius?: number
  axes?: string
}

type Build = (parameters: Parameters, ellipsoid: Ellipsoid) => Method | null

interface Ellipsoid {
  semiMajorAxis: number
  inverseFlattening: number
}

/** The parameters of a conversion by meaning: EPSG, GDAL and ESRI use many names for the same ones. */
class Parameters {
  readonly #values: Map<string, number>

  constructor(values: Map<string, number>) {
    this.#values = values
  }

  get(...names: string[]): number | undefined {
    for (const name of names) {
      const value = this.#values.get(name)
      if (value !== undefined) return value
    }
    return undefined
  }

  get lat0(): number {
    return (
      this.get(
        'latitudeoffalseorigin',
        'latitudeofprojectioncentre',
        'latitudeofprojectioncenter',
        'latitudeofnaturalorigin',
        'latitudeoforigin',
        'latitudeofcenter',
        'latitudeofcentre',
        'sphericallatitudeoforigin',
      ) ?? 0
    )
  }

  get lon0(): number {
    return (
      this.get(
        'longitudeoffalseorigin',
        'longitudeofprojectioncentre',
        'longitudeofprojectioncenter',
        'longitudeofnaturalorigin',
        'centralmeridian',
        'longitudeoforigin',
        'longitudeofcenter',
        'longitudeofcentre',
        'sphericallongitudeoforigin',
      ) ?? 0
    )
  }

  get lat1(): number | undefined {
    return this.get('latitudeof1ststandardparallel', 'standardparallel1', 'latitudeofstandardparallel')
  }

  get lat2(): number | undefined {
    return this.get('latitudeof2ndstandardparallel', 'standardparallel2')
  }

  get scale(): number {
    return (
      this.get(
        'scalefactoratnaturalorigin',
        'scalefactor',
        'scalefactoratprojectioncentre',
        'scalefactoroninitialline',
        'scalefactoronpseudostandardparallel',
        'ellipsoidscalingfactor',
      ) ?? 1
    )
  }

  /** False easting and northing. */
  get origin(): { x_0: number; y_0: number } {
    return {
      x_0: this.get('falseeasting', 'eastingatfalseorigin', 'eastingatprojectioncentre') ?? 0,
      y_0: this.get('falsenorthing', 'northingatfalseorigin', 'northingatprojectioncentre') ?? 0,
    }
  }

  get azimuth(): number | undefined {
    return this.get('azimuth', 'azimuthatprojectioncentre', 'azimuthofinitialline')
  }

  get rectifiedAngle(): number | undefined {
    return this.get('anglefromrectifiedtoskewgrid', 'rectifiedgridangle', 'xyplanerotation')
  }
}

function central(proj: string): Build {
  return (p) => ({ proj, values: { lat_0: p.lat0, lon_0: p.lon0, k: p.scale, ...p.origin } })
}

/** A projection of the whole world, which has a central meridian and at most a latitude of true scale. */
function world(proj: string, radius?: (ellipsoid: Ellipsoid) => number): Build {
  return (p, ellipsoid) => ({
    proj,
    values: { lon_0: p.lon0, ...p.origin },
    ...(radius && { radius: radius(ellipsoid) }),
  })
}

const semiMajorAxis = ({ semiMajorAxis: a }: Ellipsoid) => a

const equalAreaRadius = ({ semiMajorAxis: a, inverseFlattening: rf }: Ellipsoid) => authalicRadius(a, rf)

const conformalConic: Build = (p) => {
  const lat1 = p.lat1
  const natural = p.get('latitudeofnaturalorigin')
  if (p.lat2 !== undefined && lat1 !== undefined)
    return {
      proj: 'lcc',
      values: { lat_0: p.lat0, lon_0: p.lon0, lat_1: lat1, lat_2: p.lat2, k_0: p.scale, ...p.origin },
    }
  const tangent = lat1 ?? natural ?? p.lat0
  return { proj: 'lcc', values: { lat_1: tangent, lat_0: p.lat0, lon_0: p.lon0, k_0: p.scale, ...p.origin } }
}

const twoParallels =
  (proj: string): Build =>
  (p) => ({
    proj,
    values: { lat_0: p.lat0, lon_0: p.lon0, lat_1: p.lat1 ?? 0, lat_2: p.lat2 ?? p.lat1 ?? 0, ...p.origin },
  })

const polarStereographic =
  (pole?: 1 | -1): Build =>
  (p) => {
    // GDAL's WKT 1 states the latitude of true scale as the latitude of origin.
    const standard = p.lat1 ?? p.lat0
    const lat0 = 90 * (pole ?? (standard < 0 ? -1 : 1))
    const trueScale = Math.abs(standard) === 90 ? { k: p.scale } : { lat_ts: standard, k: 1 }
    return { proj: 'stere', values: { lat_0: lat0, lon_0: p.lon0, ...trueScale, ...p.origin } }
  }

const mercator: Build = (p) => {
  const standard = p.lat1
  const scale = standard === undefined ? { k: p.scale } : { lat_ts: standard }
  return { proj: 'merc', values: { lon_0: p.lon0, ...scale, ...p.origin } }
}

const mercatorOnSphere: Build = (p, { semiMajorAxis: radius }) => ({
  proj: 'merc',
  values: { lon_0: p.lon0, k: p.scale, ...p.origin },
  radius,
})

const obliqueMercator =
  (isVariantA: boolean): Build =>
  (p) => {
    const azimuth = p.azimuth ?? 0
    const gamma = p.rectifiedAngle ?? azimuth
    // The Swiss projection: proj4 has a separate implementation, and the general formulas divide by zero.
    if (azimuth === 90 && gamma === 90)
      return { proj: 'somerc', values: { lat_0: p.lat0, lon_0: p.lon0, k_0: p.scale, ...p.origin } }
    return {
      proj: 'omerc',
      values: {
        ...(isVariantA && { no_uoff: true }),
        ...{ lat_0: p.lat0, lonc: p.lon0, alpha: azimuth, gamma, k: p.scale, ...p.origin },
      },
    }
  }

const cylindricalEqualArea: Build = (p) => ({
  proj: 'cea',
  values: { lat_ts: p.lat1 ?? 0, lon_0: p.lon0, ...p.origin },
})

const equidistantCylindrical: Build = (p) => ({
  proj: 'eqc',
  values: { lat_ts: p.lat1 ?? 0, lat_0: p.get('latitudeoforigin') ?? 0, lon_0: p.lon0, ...p.origin },
})

const krovak: Build = (p) => ({
  proj: 'krovak',
  values: {
    lat_0: p.lat0,
    lon_0: p.lon0,
    alpha: p.get('colatitudeofconeaxis') ?? p.azimuth,
    k: p.scale,
    ...p.origin,
  },
  // The projection was defined with axes to the south and the west; ESRI reverses them with these parameters.
  ...(p.get('xscale') !== -1 && { axes: 'swu' }),
})

const onSphere =
  (build: Build): Build =>
  (p, ellipsoid) => {
    const method = build(p, ellipsoid)
    return method && { ...method, radius: equalAreaRadius(ellipsoid) }
  }

/** Projections by the normalised method names of EPSG (WKT 2, PROJJSON), GDAL's WKT 1 and ESRI. */
const METHODS: { [names: string]: Build } = {
  'transversemercator transversemercatorcomplex gausskruger transversemercator3d': central('tmerc'),
  transversemercatorsouthorientated: (p, e) => ({ ...central('tmerc')(p, e)!, axes: 'wsu' }),
  'lambertconicconformal1sp lambertconformalconic1sp lambertconicconformal2sp lambertconformalconic2sp lambertconformalconic':
    conformalConic,
  'lambertconicconformal2spbelgium lambertconformalconic2spbelgium lambertconicconformal2spmichigan':
    conformalConic,
  lambertconicconformal1spvariantb: conformalConic,
  'albersequalarea albersconicequalarea albers': twoParallels('aea'),
  equidistantconic: twoParallels('eqdc'),
  'cassinisoldner cassini': central('cass'),
  'hotineobliquemercatorvarianta hotineobliquemercator hotineobliquemercatorazimuthnaturalorigin rectifiedskeworthomorphicnaturalorigin':
    obliqueMercator(true),
  'hotineobliquemercatorvariantb hotineobliquemercatorazimuthcenter rectifiedskeworthomorphiccenter obliquemercator':
    obliqueMercator(false),
  swissobliquecylindrical: (p) => ({
    proj: 'somerc',
    values: { lat_0: p.lat0, lon_0: p.lon0, k_0: p.scale, ...p.origin },
  }),
  'polarstereographicvarianta polarstereographicvariantb polarstereographic': polarStereographic(),
  stereographicnorthpole: polarStereographic(1),
  stereographicsouthpole: polarStereographic(-1),
  'obliquestereographic doublestereographic': central('sterea'),
  stereographic: central('stere'),
  lambertazimuthalequalarea: central('laea'),
  lambertazimuthalequalareaspherical: onSphere(central('laea')),
  'azimuthalequidistant modifiedazimuthalequidistant': central('aeqd'),
  'mercatorvarianta mercatorvariantb mercator1sp mercator2sp mercator': mercator,
  'popularvisualisationpseudomercator mercatorauxiliarysphere mercator1spspherical': mercatorOnSphere,
  'americanpolyconic polyconic': central('poly'),
  'equidistantcylindrical equidistantcylindricalspherical equirectangular platecarree':
    equidistantCylindrical,
  'lambertcylindricalequalarea cylindricalequalarea': cylindricalEqualArea,
  lambertcylindricalequalareaspherical: onSphere(cylindricalEqualArea),
  behrmann: (p) => ({ proj: 'cea', values: { lat_ts: 30, lon_0: p.lon0, ...p.origin } }),
  krovak: krovak,
  krovaknorthorientated: (p, e) => ({ ...krovak(p, e)!, axes: 'enu' }),
  newzealandmapgrid: central('nzmg'),
  equalearth: world('eqearth'),
  'millercylindrical miller': world('mill', equalAreaRadius),
  mollweide: world('moll', semiMajorAxis),
  robinson: world('robin', semiMajorAxis),
  sinusoidal: world('sinu'),
  eckertvi: world('eck6', semiMajorAxis),
  'vandergrinten vandergrinteni': world('vandg', semiMajorAxis),
  orthographicspherical: onSphere(central('ortho')),
  gnomonic: onSphere(central('gnom')),
  bonne: (p) => ({ proj: 'bonne', values: { lat_1: p.lat1 ?? p.lat0, lon_0: p.lon0, ...p.origin } }),
}

const BUILDERS = new Map(
  Object.entries(METHODS).flatMap(([names, build]) => names.split(' ').map((name) => [name, build] as const)),
)

/**
 * The projection as a PROJ string for proj4, without a datum shift; null for methods that proj4 does not
 * support or computes differently from PROJ.
 */
export function projString(crs: CrsDescription): string | null {
  const { projected, geographic } = crs
  if (!projected) return geographicString(crs)
  if (projected.projText !== undefined) return readProjText(projected.projText)?.definition ?? null
  const build = BUILDERS.get(normalise(projected.method))
  const method = build?.(new Parameters(projected.parameters), geographic) ?? null
  if (!method) return null
  const { radius, proj, values } = method
  const parts = [`+proj=${proj}`]
  for (const [name, value] of Object.entries(values)) {
    if (value === true) parts.push(`+${name}`)
    else if (value !== undefined && !isDefault(name, value)) parts.push(`+${name}=${number(value)}`)
  }
  parts.push(radius === undefined ? ellipsoidString(geographic) : `+R=${number(radius)}`)
  parts.push(...meridianString(geographic.primeMeridian))
  if (projected.unit !== 1) parts.push(`+to_meter=${number(projected.unit)}`)
  const axes = axesOf(projected, method)
  if (axes !== 'enu') parts.push(`+axis=${axes}`)
  return parts.join(' ')
}

function axesOf({ axes }: ProjectedPart, method: Method): string {
  return axes ?? method.axes ?? 'enu'
}

function isDefault(name: string, value: number): boolean {
  return /^k(_0)?$/.test(name) ? value === 1 : value === 0 && /^(lat_0|lon_0|x_0|y_0)$/.test(name)
}

function geographicString({ geographic }: CrsDescription): string {
  const unit = geographic.unit === 1 ? [] : [`+to_degree=${number(geographic.unit)}`]
  return [
    '+proj=longlat',
    ellipsoidString(geographic),
    ...meridianString(geographic.primeMeridian),
    ...unit,
  ].join(' ')
}

function ellipsoidString({ semiMajorAxis: a, inverseFlattening }: Ellipsoid): string {
  if (a === 6378137 && Math.abs(inverseFlattening - 298.257222101) < 1e-8) return '+ellps=GRS80'
  if (a === 6378137 && Math.abs(inverseFlattening - 298.257223563) < 1e-8) return '+ellps=WGS84'
  return inverseFlattening === 0 ? `+R=${number(a)}` : `+a=${number(a)} +rf=${number(inverseFlattening)}`
}

function meridianString(degrees: number): string[] {
  return degrees === 0 ? [] : [`+pm=${number(degrees)}`]
}

/** Avoids exponents, because proj4 parses a plus sign as the start of a parameter. */
function number(value: number): string {
  const text = String(Number(value.toPrecision(15)))
  return text.includes('e') ? value.toFixed(20).replace(/0+$/, '') : text
}
