/** Small things that packages above use too. */
export { assertNever } from '../assert-never.ts'
export { BoundedCache } from '../bounded-cache.ts'
export type { SharedLoads } from '../bytes/shared-loads.ts'
export { sharedDoubles } from '../bytes/shared-memory.ts'
export { type JsonShape, jsonShape } from '../json-structure.ts'
export { SingleFlights, singleFlight } from '../single-flight.ts'
export { performRequests } from '../threads/perform-requests.ts'
export { RequestThread } from '../threads/request-thread.ts'
