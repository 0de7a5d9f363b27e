import { performance } from 'node:perf_hooks'
import type { Changes } from '../base/database/changes/changes.ts'
import { JobStatistics } from '../data/jobs/job-statistics.ts'
import { DiskSpace } from '../http/observability/disk-space.ts'
import type { ConnectionLimits } from '../http/sockets/connection-limits.ts'
import type { StalledReaders } from '../http/sockets/stalled-readers.ts'
import type { Parts } from './wiring.ts'

/** Exposes the parts' own counters as metrics. */
export function exposeMetrics(
  parts: Parts,
  connections: ConnectionLimits,
  readers: Pick<StalledReaders, 'closed'>,
): void {
  const { metrics, changes, redis, overload, jobQueue, runner, identity, cashier, meter, config, health } =
    parts
  const statistics = new JobStatistics(() => jobQueue.count())
  metrics.read('wayleave_lease_held', () => Number(isTrusted(changes)))
  metrics.read('wayleave_clock_held', () => Number(parts.housekeepingClock.held))
  metrics.read('wayleave_damaged_versions', () => countByTable(health.damaged))
  if (redis) {
    metrics.read('wayleave_redis_up', () => Number(redis.isUp))
    metrics.read('wayleave_redis_outages_total', () => redis.outages)
  }
  const { bucket, cache } = parts.storage
  if (bucket && cache) {
    metrics.read('wayleave_storage_up', () => Number(!bucket.breaker.isOpen))
    metrics.read('wayleave_storage_requests_total', () => bucket.counts.requests)
    metrics.read('wayleave_storage_retries_total', () => bucket.counts.retries)
    metrics.read('wayleave_storage_failures_total', () => bucket.counts.failures)
    metrics.read('wayleave_storage_bytes_total', () => ({
      read: bucket.counts.bytesRead,
      written: bucket.counts.bytesWritten,
    }))
    metrics.read('wayleave_cache_bytes', () => cache.bytes)
    metrics.read('wayleave_cache_reads_total', () => ({ hit: cache.counts.hits, miss: cache.counts.misses }))
    metrics.read('wayleave_cache_evicted_bytes_total', () => cache.counts.evictedBytes)
  }
  metrics.read('wayleave_overload_refusals_total', () => overload.refusals)
  metrics.read('wayleave_refusals_total', () => metrics.refusals.counts)
  exposeLoad(parts)
  exposeCaches(parts)
  metrics.read('wayleave_connections_open', () => connections.open)
  metrics.read('wayleave_connections_max', () => connections.max.total)
  metrics.read('wayleave_connections_refused_total', () => connections.refusals)
  metrics.read('wayleave_stalled_readers_total', () => readers.closed)
  metrics.read('wayleave_jobs', () => statistics.read().then(({ open }) => open))
  metrics.read('wayleave_job_oldest_waiting_seconds', () =>
    statistics.read().then(({ oldestSeconds }) => oldestSeconds),
  )
  metrics.read('wayleave_job_leases_lost_total', () => runner.leasesLost)
  const { finished, durations } = runner
  metrics.read('wayleave_jobs_finished_total', () => finished.publish)
  metrics.read('wayleave_job_duration_seconds', () => durations.publish)
  metrics.read('wayleave_export_builds_waiting', () => statistics.countOf('export'))
  metrics.read('wayleave_export_builds_failed_total', () => finished.export.failed)
  metrics.read('wayleave_export_build_duration_seconds', () => durations.export)
  metrics.read('wayleave_tile_builds_waiting', () => statistics.countOf('tiles'))
  metrics.read('wayleave_tile_builds_finished_total', () => {
    const { done, failed } = finished.tiles
    return { done, failed }
  })
  metrics.read('wayleave_tile_build_duration_seconds', () => durations.tiles)
  metrics.read('wayleave_mails_total', () => identity.mailer.results)
  metrics.read('wayleave_webhook_attempts_total', () => parts.webhookDispatcher.results)
  metrics.read('wayleave_credits_total', () => cashier.credits)
  metrics.read('wayleave_refunds_total', () => cashier.refunds)
  metrics.read('wayleave_usage_unsaved_rows', () => meter.unsavedRows)
  metrics.read('wayleave_usage_unsaved_seconds', () => meter.unsavedSeconds)
  const disk = new DiskSpace(config.dataDir)
  metrics.read('wayleave_data_disk_free_bytes', () => disk.read().free)
  metrics.read('wayleave_data_disk_size_bytes', () => disk.read().size)
}

/** How busy the node is, and what waits for it. */
function exposeLoad({ metrics, workload, engine, database }: Parts): void {
  metrics.read('wayleave_pages_shortened_total', () => workload.shortened)
  let last = performance.eventLoopUtilization()
  metrics.read('wayleave_event_loop_utilization', () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  })
  const queues = { searches: workload.searches, pages: workload.pages, queries: engine.duckdb.queue }
  const read = (property: 'waiting' | 'saturation') =>
    Object.fromEntries(Object.entries(queues).map(([name, queue]) => [name, queue[property]]))
  metrics.read('wayleave_queue_waiting', () => ({ ...read('waiting'), database: database.pending() }))
  metrics.read('wayleave_queue_saturation', () => read('saturation'))
}

function exposeCaches({ metrics, authenticate, catalog, snapshots, engine: { columns } }: Parts): void {
  const caches = () => ({
    keys: authenticate.keyLookups,
    datasets: catalog.lookups,
    features: snapshots.packs.lookups,
    columns: columns.lookups,
  })
  const read = (property: 'hits' | 'misses') =>
    Object.fromEntries(Object.entries(caches()).map(([name, lookups]) => [name, lookups[property]]))
  metrics.read('wayleave_memory_cache_hits_total', () => read('hits'))
  metrics.read('wayleave_memory_cache_misses_total', () => read('misses'))
  metrics.read('wayleave_memory_cache_bytes', () => ({
    features: snapshots.packs.bytes,
    columns: columns.bytes,
  }))
}

/** On SQLite, `trusted()` throws if the file cannot be read. */
function isTrusted(changes: Changes): boolean {
  try {
    return changes.trusted()
  } catch {
    return false
  }
}

function countByTable(versions: Iterable<{ table: string }>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { table } of versions) counts[table] = (counts[table] ?? 0) + 1
  return counts
}
