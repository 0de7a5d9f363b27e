import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import type { Blobs } from '../blobs/blobs.ts'

interface DiscardDeps {
  blobs: Blobs
  clock: Clock
  log: Logger
}

/**
 * Moves snapshots to the trash. Their versions are already deleted, so a failure is only logged; the next garbage
 * collection retries.
 */
export async function discardSnapshots(
  { blobs, clock, log }: DiscardDeps,
  snapshots: string[],
): Promise<void> {
  for (const snapshot of snapshots) {
    await blobs.discard(snapshot, clock()).then(
      () => log.info({ snapshot }, `The snapshot ${snapshot} was moved to the trash.`),
      (error: unknown) =>
        log.error({ err: error, snapshot }, `Could not move the snapshot ${snapshot} to the trash.`),
    )
  }
}

/** Deletes a snapshot that no version has ever named, without keeping it in the trash. */
export async function deleteSnapshot(deps: DiscardDeps, snapshot: string): Promise<void> {
  await discardSnapshots(deps, [snapshot])
  for (const discarded of await deps.blobs.listTrash()) {
    if (discarded.snapshot === snapshot) await deps.blobs.deleteDiscarded(discarded)
  }
}
