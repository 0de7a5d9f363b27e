import { parentPort } from 'node:worker_threads'
import { sliceFeature } from '@wayleave/geodata/features'
import { type Geometry, pointOnSurface } from '@wayleave/geodata/geometry'
import { geodesicArea, geodesicLength } from './geodesic-size.ts'

/** What is computed for each geometry; a point has two numbers. */
export type SizeKind = 'area' | 'length' | 'point'

export interface SizeRequest {
  number: number
  kind: SizeKind
  /** Features of the pack, and where each of them begins and ends. */
  bytes: Uint8Array
  bounds: Float64Array
}

export type SizeReply = { number: number } & ({ values: Float64Array } | { failure: string })

function compute({ kind, bytes, bounds }: SizeRequest): Float64Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const count = bounds.length / 2
  const width = kind === 'point' ? 2 : 1
  const values = new Float64Array(count * width)
  for (let i = 0; i < count; i++) {
    const text = sliceFeature(buffer.subarray(bounds[i * 2]!, bounds[i * 2 + 1]!)).geometry
    const geometry = JSON.parse(text.toString('utf8')) as Geometry | null
    if (kind === 'point') {
      const point = geometry && pointOnSurface(geometry)
      values[i * 2] = point?.[0] ?? Number.NaN
      values[i * 2 + 1] = point?.[1] ?? Number.NaN
    } else if (geometry) values[i] = kind === 'area' ? geodesicArea(geometry) : geodesicLength(geometry)
  }
  return values
}

parentPort!.on('message', (request: SizeRequest) => {
  const { number } = request
  let reply: SizeReply
  try {
    reply = { number, values: compute(request) }
  } catch (error) {
    reply = { number, failure: (error as Error).stack ?? String(error) }
  }
  parentPort!.postMessage(reply, 'values' in reply ? [reply.values.buffer as ArrayBuffer] : [])
})
