import { MINUTE } from '../../../base/clock.ts'
import { ObjectMissingError, type ObjectStore } from '../../../base/storage/object-store.ts'

/** The holder renews its lease while it works. One that was not renewed for this long belongs to a killed process. */
const LEASE = 10 * MINUTE
const RENEWAL = MINUTE

interface Lease {
  id: string
  at: number
}

/** Stores have no locks: an object with a lease takes their place. */
export function writeLease(store: ObjectStore, key: string, id: string): Promise<void> {
  const lease: Lease = { id, at: Date.now() }
  return store.write(key, Buffer.from(JSON.stringify(lease)))
}

/** Renews a lease until the returned function is called, which deletes it. */
export function keepLease(store: ObjectStore, key: string, id: string): () => Promise<void> {
  let renewed: Promise<void> = Promise.resolve()
  const renewal = setInterval(() => {
    renewed = writeLease(store, key, id).catch(() => {})
  }, RENEWAL)
  return async () => {
    clearInterval(renewal)
    await renewed
    await store.delete([key])
  }
}

/** Null if there is none, or if its holder was killed. */
export async function readLease(store: ObjectStore, key: string): Promise<Lease | null> {
  const bytes = await store.read(key).catch((error: unknown) => {
    if (error instanceof ObjectMissingError) return null
    throw error
  })
  const lease = bytes && (JSON.parse(bytes.toString('utf8')) as Lease)
  return lease && Date.now() - lease.at < LEASE ? lease : null
}
