/** Small things that packages above use too. */
export { assertNever } from '../assert-never.ts'
export { BoundedCache } from '../bounded-cache.ts'
export { hasMoreMembers, hasMoreValues, isNestedDeeper } from '../json-structure.ts'
export { SingleFlights, singleFlight } from '../single-flight.ts'
