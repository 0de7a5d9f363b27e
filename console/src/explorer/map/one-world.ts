import type { Box } from '../filter/clause.ts'

const TILE_PX = 512
/** The latitude at which the Web Mercator square ends. */
export const MAX_LATITUDE = 85.0511287798066

interface Camera {
  longitude: number
  latitude: number
  zoom: number
}

interface Size {
  width: number
  height: number
}

/**
 * Keeps the camera on one world: it cannot zoom out further than the whole world, and cannot leave it. A side
 * that is shorter than the map is centered.
 */
export function keepOnWorld({ longitude, latitude, zoom }: Camera, { width, height }: Size): Camera {
  const min = minZoom({ width, height })
  const allowedZoom = Math.max(min, zoom)
  const world = TILE_PX * 2 ** allowedZoom
  const x = clamped((longitude + 180) / 360, width / world)
  const y = clamped(mercatorY(latitude), height / world)
  return { longitude: x * 360 - 180, latitude: latitudeAt(y), zoom: allowedZoom }
}

/** The zoom at which the whole world just fits. */
export function minZoom({ width, height }: Size): number {
  return Math.log2(Math.max(1, Math.min(width, height)) / TILE_PX)
}

/** The middle of a view of this share of the world, moved so that the view stays inside. */
function clamped(middle: number, share: number): number {
  return share >= 1 ? 0.5 : Math.max(share / 2, Math.min(1 - share / 2, middle))
}

function mercatorY(latitude: number): number {
  const bounded = Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude))
  const sine = Math.sin((bounded * Math.PI) / 180)
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
}

function latitudeAt(y: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI
}

/**
 * Where a map of the dataset begins. Data of the whole world is shown without the far south, which is as large as a
 * continent in this projection.
 */
export function fittingBox(box: Box): Box {
  const [west, south, east, north] = projectedBox(box)
  const isWorld = east - west > 300 && south < 0 && north > 0
  return isWorld ? [west, Math.max(-58, south), east, Math.min(80, north)] : [west, south, east, north]
}

/** The part of a box that the projection can show. */
export function projectedBox([west, south, east, north]: Box): Box {
  const latitude = (degrees: number) => Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, degrees))
  return [Math.max(-180, west), latitude(south), Math.min(180, east), latitude(north)]
}
