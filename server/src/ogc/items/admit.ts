import type { IncomingMessage } from 'node:http'
import { timeSlices } from '@wayleave/geodata/features'
import type { FastifyRequest } from 'fastify'
import type { Authenticate, AuthRequest } from '../../accounts/access/authenticate.ts'
import { requireRead } from '../../accounts/access/dataset-access.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import type { Clock } from '../../base/clock.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { authenticateReader } from '../../data/catalog/authenticate-reader.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'

/**
 * Authenticates and authorizes a request for a collection. Returns the grant of its key and the dataset that it
 * may read. An open dataset needs no key.
 */
export function admit(
  authRequest: AuthRequest,
  table: string,
  deps: { authenticate: Authenticate; catalog: Catalog; clock: Clock },
  access: 'features' | 'tiles' = 'features',
  limit: 'key' | 'tile' = 'key',
): MaybePromise<{ grant: Grant; dataset: Dataset }> {
  return andThen(authenticateReader(authRequest, table, deps, limit), (grant) =>
    andThen(deps.catalog.findFor(grant, table), (dataset) => {
      requireRead(grant, dataset, access, deps.clock)
      return andThen(sliceFor(grant, authRequest.request), () => ({ grant, dataset }))
    }),
  )
}

/**
 * Waits for a time slice if the request may take long and the slice of this iteration is used up: the database or
 * Redis may have admitted many requests in the same iteration of the event loop. Call it before each step that may
 * take milliseconds.
 *
 * See docs/decisions/requests-in-turn.md.
 */
export function sliceFor({ owner }: Grant, request: IncomingMessage): MaybePromise<void> {
  return mayTakeLong(request) && timeSlices.isUsedUp ? timeSlices.next(owner) : undefined
}

/**
 * Reads the query of an admitted request. If it is refused, the time that took is charged to its key, with the
 * milliseconds that were spent on it before.
 */
export function readCharged<T>(grant: Grant, { authenticate }: Charging, read: () => T, spent = 0): T {
  const began = performance.now()
  try {
    return read()
  } catch (error) {
    authenticate.chargeTime(grant, spent + performance.now() - began)
    throw error
  }
}

type Charging = { authenticate: Pick<Authenticate, 'chargeTime'> }

/**
 * As `readCharged`, for what takes milliseconds if it is long: others have a turn as soon as the steps have taken one.
 * With `isCharged`, the time is charged also if the query is not refused.
 */
export function readInSteps<T>(
  grant: Grant,
  deps: Charging,
  steps: Generator<void, T>,
  isCharged = false,
): MaybePromise<T> {
  let spent = 0
  const runSlice = () => {
    const began = performance.now()
    let step = steps.next()
    while (!step.done && performance.now() - began < SLICE_MS && !timeSlices.isUsedUp) step = steps.next()
    spent += performance.now() - began
    if (step.done && isCharged) deps.authenticate.chargeTime(grant, spent)
    return step
  }
  const first = readCharged(grant, deps, runSlice, spent)
  if (first.done) return first.value
  return (async () => {
    for (;;) {
      await timeSlices.next(grant.owner)
      const step = readCharged(grant, deps, runSlice, spent)
      if (step.done) return step.value
    }
  })()
}

/** In ms. Less than a time slice, because the last step that begins in it may take several milliseconds. */
const SLICE_MS = 1

/** A query of this length is read in less than a millisecond. */
const SHORT_URL = 2000

/** Whether reading the query may take milliseconds. */
function mayTakeLong({ method, url = '' }: IncomingMessage): boolean {
  return method === 'POST' || url.length > SHORT_URL
}

/** The table in the request's path. */
export function tableOf(request: FastifyRequest): string {
  return (request.params as { table: string }).table
}
