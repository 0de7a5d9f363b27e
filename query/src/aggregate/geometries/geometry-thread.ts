import { performRequests } from '@wayleave/geodata/base'
import { buildTree, sliceFeature, treeNodeNumbers } from '@wayleave/geodata/features'
import { type Geometry, pointOnSurface, writeWkb } from '@wayleave/geodata/geometry'
import { geodesicArea, geodesicLength } from './geodesic-size.ts'
import { type LocatedPlaces, locateInZone } from './locate-in-zone.ts'

/** What is computed for each geometry; a point has two numbers. */
export type SizeKind = 'area' | 'length' | 'point'

/** Features of a pack, and where each of them begins and ends. Their memory moves to the thread. */
export interface PackedFeatures {
  bytes: Uint8Array
  bounds: Float64Array
}

/** What the thread does, by name: its request, and what it resolves to. Memory of places and zones is shared. */
export interface GeometryTasks {
  sizes: { request: { kind: SizeKind; features: PackedFeatures }; value: Float64Array }
  /** Well-known binary of the geometry of the first feature. */
  wkb: { request: { features: PackedFeatures }; value: Uint8Array | null }
  /** The nodes of a tree over places, for `zones`. */
  tree: { request: { places: Float64Array }; value: Float64Array }
  /** Writes the zones of places; the number of the first of these zones is `first`. */
  zones: { request: { places: LocatedPlaces; first: number; features: PackedFeatures }; value: null }
}

type Task = keyof GeometryTasks
export type GeometryRequest = {
  [T in Task]: { task: T; request: GeometryTasks[T]['request'] }
}[Task]

function perform({ task, request }: GeometryRequest): Float64Array | Uint8Array | null {
  switch (task) {
    case 'sizes':
      return sizesOf(request.kind, request.features)
    case 'wkb':
      return wkbOf(request.features)
    case 'tree':
      return nodesOf(request.places)
    case 'zones':
      eachGeometry(request.features, (geometry, i) => {
        if (geometry) locateInZone(geometry, request.first + i, request.places)
      })
      return null
  }
}

function sizesOf(kind: SizeKind, features: PackedFeatures): Float64Array {
  const width = kind === 'point' ? 2 : 1
  const values = new Float64Array((features.bounds.length / 2) * width)
  eachGeometry(features, (geometry, i) => {
    if (kind === 'point') {
      const point = geometry && pointOnSurface(geometry)
      values[i * 2] = point?.[0] ?? Number.NaN
      values[i * 2 + 1] = point?.[1] ?? Number.NaN
    } else if (geometry) values[i] = kind === 'area' ? geodesicArea(geometry) : geodesicLength(geometry)
  })
  return values
}

function wkbOf(features: PackedFeatures): Uint8Array | null {
  let bytes: Uint8Array | null = null
  eachGeometry(features, (geometry) => {
    // A copy, because memory that buffers share cannot move.
    bytes = geometry && new Uint8Array(writeWkb(geometry))
  })
  return bytes
}

function nodesOf(places: Float64Array): Float64Array {
  const nodes = new Float64Array(new SharedArrayBuffer(treeNodeNumbers(places.length / 2) * 8))
  buildTree(places, true, nodes)
  return nodes
}

function eachGeometry(
  { bytes, bounds }: PackedFeatures,
  visit: (geometry: Geometry | null, i: number) => void,
): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let i = 0; i < bounds.length / 2; i++) {
    const text = sliceFeature(buffer.subarray(bounds[i * 2]!, bounds[i * 2 + 1]!)).geometry
    visit(JSON.parse(text.toString('utf8')) as Geometry | null, i)
  }
}

/** Memory that is shared does not move. */
performRequests(perform, (value) => (value?.buffer instanceof ArrayBuffer ? [value.buffer] : []))
