/** Small things that packages above use too. */
export { assertNever } from '../assert-never.ts'
export { BoundedCache } from '../bounded-cache.ts'
export { type JsonShape, jsonShape } from '../json-structure.ts'
export type { SharedLoads } from '../shared-loads.ts'
export { SingleFlights, singleFlight } from '../single-flight.ts'
