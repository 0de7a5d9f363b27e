import {
  axesInFiles,
  type CrsDescription,
  type CrsId,
  type GeographicPart,
  normalise,
} from './description.ts'
import { statedShift } from './stated-shift.ts'

interface Json {
  [member: string]: unknown
}

const DEGREE = Math.PI / 180

/** Reads PROJJSON. Returns null if it is not a horizontal CRS. */
export function readProjJson(json: unknown): CrsDescription | null {
  const root = json as Json
  const node = horizontal(root)
  if (!node) return null
  const base = isObject(node['base_crs']) ? node['base_crs'] : node
  const geographic = geographicPart(base)
  const conversion = node['conversion']
  if (!geographic || (base !== node && !isObject(conversion))) return null
  return {
    name: text(node['name']),
    id: idOf(node),
    geographic,
    projected:
      isObject(conversion) && base !== node
        ? {
            method: text(isObject(conversion['method']) ? conversion['method']['name'] : ''),
            parameters: parametersOf(conversion['parameters']),
            unit: unitOf(axesOf(node)[0]) ?? 1,
            axes: axesInFiles(axesOf(node).map((axis) => text(axis['direction']))),
          }
        : null,
    shift: shiftOf(root),
  }
}

/** The code of the horizontal part, even if the rest cannot be read. */
export function projJsonId(json: unknown): CrsId | null {
  const node = horizontal(json)
  return node && idOf(node)
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The horizontal part of a compound CRS, or the source of a bound CRS. */
function horizontal(node: unknown, depth = 0): Json | null {
  if (!isObject(node) || depth > 4) return null
  if (Array.isArray(node['components'])) return horizontal(node['components'][0], depth + 1)
  if (node['source_crs'] !== undefined) return horizontal(node['source_crs'], depth + 1)
  return /^(Projected|Geographic|Geodetic)CRS$/.test(text(node['type'])) ? node : null
}

function geographicPart(node: Json): GeographicPart | null {
  const datum = node['datum'] ?? node['datum_ensemble']
  const ellipsoid = isObject(datum) ? datum['ellipsoid'] : null
  if (!isObject(datum) || !isObject(ellipsoid)) return null
  const semiMajorAxis = quantity(ellipsoid['semi_major_axis'] ?? ellipsoid['radius'])
  const semiMinorAxis =
    ellipsoid['semi_minor_axis'] === undefined ? null : quantity(ellipsoid['semi_minor_axis'])
  const flattening = semiMinorAxis === null ? 0 : 1 - semiMinorAxis / semiMajorAxis
  // A geocentric CRS has the same members, but three axes in metres.
  const system = node['coordinate_system']
  if (isObject(system) && system['subtype'] === 'Cartesian') return null
  const meridian = isObject(datum['prime_meridian']) ? datum['prime_meridian']['longitude'] : 0
  return {
    name: text(node['name']),
    id: idOf(node),
    datumName: text(datum['name']),
    semiMajorAxis,
    inverseFlattening: Number(ellipsoid['inverse_flattening'] ?? (flattening === 0 ? 0 : 1 / flattening)),
    primeMeridian: isObject(meridian) ? quantity(meridian) / DEGREE : Number(meridian ?? 0),
    unit: unitOf(axesOf(node)[0], true) ?? 1,
  }
}

/** A number, or a number with its own unit, which is converted to metres or radians. */
function quantity(value: unknown): number {
  if (!isObject(value)) return Number(value)
  return Number(value['value']) * (unitOf(value) ?? 1)
}

function axesOf(node: Json): Json[] {
  const system = node['coordinate_system']
  const axes = isObject(system) ? system['axis'] : null
  return Array.isArray(axes) ? axes.filter(isObject) : []
}

/** The conversion factor of the member `unit`: to metres, to one, to radians or, if requested, to degrees. */
function unitOf(node: Json | undefined, inDegrees = false): number | null {
  const unit = node?.['unit']
  if (unit === 'degree') return inDegrees ? 1 : DEGREE
  if (unit === 'metre' || unit === 'unity') return 1
  if (!isObject(unit)) return null
  const factor = Number(unit['conversion_factor'])
  if (!inDegrees) return factor
  const degrees = factor / DEGREE
  return Math.abs(degrees / 0.9 - 1) < 1e-9 ? 0.9 : degrees
}

function parametersOf(list: unknown): Map<string, number> {
  const parameters = new Map<string, number>()
  for (const each of Array.isArray(list) ? list.filter(isObject) : []) {
    const name = normalise(text(each['name']))
    const isAngle = !/easting|northing|scale|height|radius|translation/.test(name)
    parameters.set(name, Number(each['value']) * (unitOf(each, isAngle) ?? 1))
  }
  return parameters
}

function idOf(node: Json): CrsId | null {
  const id = node['id']
  if (!isObject(id) || id['authority'] === undefined || id['code'] === undefined) return null
  return { authority: String(id['authority']), code: String(id['code']) }
}

function shiftOf(root: Json): number[] | null {
  const transformation = root['transformation']
  if (!isObject(transformation)) return null
  const parameters = new Map<string, number>()
  const list = transformation['parameters']
  for (const each of Array.isArray(list) ? list.filter(isObject) : [])
    parameters.set(normalise(text(each['name'])), Number(each['value']))
  const method = isObject(transformation['method']) ? text(transformation['method']['name']) : ''
  return statedShift(method, parameters)
}
