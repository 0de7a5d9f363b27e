import {
  axesInFiles,
  type CrsDescription,
  type CrsId,
  type GeographicPart,
  normalise,
  type ProjectedPart,
} from './description.ts'
import { statedShift } from './stated-shift.ts'
import { child, childrenOf, parseWkt, type WktNode } from './wkt-tree.ts'

const PROJECTED = /^(PROJCS|PROJCRS|PROJECTEDCRS)$/
const GEOGRAPHIC = /^(GEOGCS|GEOGCRS|GEOGRAPHICCRS|GEODCRS|GEODETICCRS|BASEGEOGCRS|BASEGEODCRS)$/
const WRAPPING = /^(COMPD_CS|COMPOUNDCRS|BOUNDCRS|SOURCECRS)$/
const UNIT = /^(UNIT|ANGLEUNIT|LENGTHUNIT|SCALEUNIT)$/
const DEGREE = Math.PI / 180

/** Reads WKT 1 (GDAL's and ESRI's) and WKT 2 (2015 and 2019). Returns null if it is not a horizontal CRS. */
export function readWkt(text: string): CrsDescription | null {
  const root = parseWkt(text)
  const node = root && horizontal(root)
  if (!root || !node) return null
  const isProjected = PROJECTED.test(node.keyword)
  const base = isProjected ? child(node, GEOGRAPHIC) : node
  const geographic = base && geographicPart(base, isProjected)
  const projected = isProjected && geographic ? projectedPart(node, geographic) : null
  if (!geographic || (isProjected && !projected)) return null
  return { name: node.values[0] ?? '', id: idOf(node), geographic, projected, shift: shiftOf(root, base) }
}

function horizontal(node: WktNode): WktNode | null {
  if (PROJECTED.test(node.keyword) || GEOGRAPHIC.test(node.keyword)) return node
  if (!WRAPPING.test(node.keyword)) return null
  for (const each of node.children) {
    const part = horizontal(each)
    if (part) return part
  }
  return null
}

function geographicPart(node: WktNode, isBase: boolean): GeographicPart | null {
  const datum = child(node, /^(DATUM|GEODETICDATUM|TRF|ENSEMBLE)$/)
  const ellipsoid = datum && child(datum, /^(SPHEROID|ELLIPSOID)$/)
  if (!datum || !ellipsoid) return null
  const [, semiMajorAxis, inverseFlattening] = ellipsoid.values.map(Number)
  // A geocentric CRS has the same keyword in WKT 2.
  if (/^cartesian$/i.test(child(node, /^CS$/)?.values[0] ?? '')) return null
  // In WKT 2 a base CRS has no axes, so its unit is at its prime meridian or missing.
  const unit = unitOf(node) ?? (isBase ? null : unitOf(child(node, /^AXIS$/))) ?? DEGREE
  return {
    name: node.values[0] ?? '',
    id: idOf(node),
    datumName: datum.values[0] ?? '',
    semiMajorAxis: semiMajorAxis! * (unitOf(ellipsoid) ?? 1),
    inverseFlattening: inverseFlattening!,
    primeMeridian: primeMeridian(child(node, /^(PRIMEM|PRIMEMERIDIAN)$/)),
    unit: round(unit / DEGREE),
  }
}

/** The degree in WKT 1 is often rounded (0.0174532925199433), which would move coordinates by micrometres. */
function round(unit: number): number {
  for (const exact of [1, 0.9]) if (Math.abs(unit / exact - 1) < 1e-9) return exact
  return unit
}

/**
 * According to its standard, WKT 1 states the prime meridian in the CRS's own unit, but ESRI and GDAL write
 * degrees even if the unit is grads. Paris is the only meridian that occurs in grads.
 */
function primeMeridian(node: WktNode | null): number {
  const value = Number(node?.values[1] ?? 0)
  const unit = node && unitOf(node)
  if (unit) return (value * unit) / DEGREE
  return Math.abs(value - 2.5969213) < 1e-6 ? value * 0.9 : value
}

function projectedPart(node: WktNode, geographic: GeographicPart): ProjectedPart | null {
  const conversion = child(node, /^(CONVERSION|DERIVINGCONVERSION)$/) ?? node
  const method = child(conversion, /^(PROJECTION|METHOD)$/)?.values[0]
  const axes = childrenOf(node, /^AXIS$/)
  const extension = child(node, /^EXTENSION$/)?.values
  const unit = unitOf(node) ?? unitOf(axes[0] ?? null) ?? 1
  if (method === undefined || !Number.isFinite(unit)) return null
  const parameters = new Map<string, number>()
  for (const each of childrenOf(conversion, /^PARAMETER$/)) {
    const name = normalise(each.values[0] ?? '')
    const kind = parameterKind(name)
    const own = unitOf(each)
    const factor =
      kind === 'angle'
        ? own === null
          ? geographic.unit
          : round(own / DEGREE)
        : kind === 'length'
          ? (own ?? unit)
          : (own ?? 1)
    parameters.set(name, Number(each.values[1]) * factor)
  }
  return {
    method,
    parameters,
    unit,
    axes: axesInFiles(axes.map((axis) => axis.values[1] ?? '')),
    // GDAL adds a PROJ string for what WKT 1 cannot express, such as Web Mercator's sphere.
    ...(extension?.[0] === 'PROJ4' && { projText: extension[1] }),
  }
}

function parameterKind(name: string): 'angle' | 'length' | 'number' {
  if (/scal|option|type|sphere|weight|zone/.test(name)) return 'number'
  if (/easting|northing|height|radius/.test(name)) return 'length'
  return 'angle'
}

function unitOf(node: WktNode | null): number | null {
  const unit = node && child(node, UNIT)
  return unit ? Number(unit.values[1]) : null
}

function idOf(node: WktNode): CrsId | null {
  const id = child(node, /^(AUTHORITY|ID)$/)
  const [authority, code] = id?.values ?? []
  return authority !== undefined && code !== undefined ? { authority, code } : null
}

/** WKT 1 has TOWGS84 in the datum; WKT 2 binds the CRS to another one with an abridged transformation. */
function shiftOf(root: WktNode, base: WktNode): number[] | null {
  const datum = child(base, /^DATUM$/)
  const values = (datum && child(datum, /^TOWGS84$/)?.values.map(Number)) ?? null
  if (values) return values.every(Number.isFinite) && [3, 7].includes(values.length) ? values : null
  const bound =
    root.keyword === 'BOUNDCRS' ? root : root.children.find(({ keyword }) => keyword === 'BOUNDCRS')
  const transformation = bound && child(bound, /^ABRIDGEDTRANSFORMATION$/)
  if (!transformation) return null
  const parameters = new Map<string, number>()
  for (const each of childrenOf(transformation, /^PARAMETER$/))
    parameters.set(normalise(each.values[0] ?? ''), Number(each.values[1]))
  return statedShift(child(transformation, /^METHOD$/)?.values[0] ?? '', parameters)
}
