/** One row of the service's own metrics. docs/operating.md lists the same rows; a test compares them. */
export interface MetricRow {
  type: 'gauge' | 'counter' | 'histogram'
  help: string
  /** The label that distinguishes its values, or two. */
  label?: string | readonly [string, string]
  /** How the values of several serving threads become one; the sum if omitted. `first`: only the first thread has it. */
  over?: 'min' | 'max' | 'average' | 'first'
}

/** Requests are counted by request-metrics.ts; Node's metrics come from prom-client with the same prefix. */
export const metricTable = {
  wayleave_threads: {
    type: 'gauge',
    over: 'first',
    help: 'Threads that serve requests. Fewer than WAYLEAVE_THREADS while one that died is being replaced.',
  },
  wayleave_lease_held: {
    type: 'gauge',
    over: 'min',
    help: '1 while this node may use its caches: with PostgreSQL, while its lease runs; with SQLite always.',
  },
  wayleave_redis_up: {
    type: 'gauge',
    over: 'min',
    help: '1 while Redis replies in time, 0 while this node counts limits by itself. Only with WAYLEAVE_REDIS_URL.',
  },
  wayleave_redis_outages_total: {
    type: 'counter',
    help: 'How often Redis went away or replied too late. Only with WAYLEAVE_REDIS_URL.',
  },
  wayleave_storage_up: {
    type: 'gauge',
    over: 'min',
    help: '1 while the bucket responds, 0 while calls fail at once because it does not. Only with a bucket.',
  },
  wayleave_storage_requests_total: {
    type: 'counter',
    help: 'Requests to the bucket, repeated ones included. Only with a bucket.',
  },
  wayleave_storage_retries_total: {
    type: 'counter',
    help: 'Requests to the bucket that were repeated. Only with a bucket.',
  },
  wayleave_storage_failures_total: {
    type: 'counter',
    help: 'Calls that failed because the bucket did not respond in time. Only with a bucket.',
  },
  wayleave_storage_bytes_total: {
    type: 'counter',
    label: 'direction',
    help: 'Bytes exchanged with the bucket, by direction: "read" or "written". Only with a bucket.',
  },
  wayleave_cache_bytes: {
    type: 'gauge',
    over: 'first',
    help: 'Bytes of the bucket that are cached on the disk of this node. Only with a bucket.',
  },
  wayleave_cache_reads_total: {
    type: 'counter',
    label: 'result',
    help: 'Blocks and files that were read from the cache on disk ("hit") or fetched ("miss"). Only with a bucket.',
  },
  wayleave_cache_evicted_bytes_total: {
    type: 'counter',
    help: 'Bytes that were removed from the cache on disk to make room. Only with a bucket.',
  },
  wayleave_overload_refusals_total: {
    type: 'counter',
    help: 'Requests that were refused with 503 because the node had too much to do.',
  },
  wayleave_refusals_total: {
    type: 'counter',
    label: ['code', 'limit'],
    help: 'Requests that were refused, by the code of the problem and, if a limit was reached, by limit: queues ("searches", "pages", "queries", "extracts", "tiles", "sign-ins"), "event-loop", "query-time", "query-memory", "filter-cost", or a rate ("key-rate", "owner-rate", "tile-rate", "open-rate", "user-rate", "address-rate", "sign-in-rate", "invitation-rate").',
  },
  wayleave_pages_shortened_total: {
    type: 'counter',
    label: 'limit',
    help: 'Pages that have fewer features than were asked for, by limit: "bytes" or "time".',
  },
  wayleave_stalled_readers_total: {
    type: 'counter',
    help: 'Connections that were closed because the client did not read its response.',
  },
  wayleave_event_loop_utilization: {
    type: 'gauge',
    over: 'average',
    help: 'The share of the time since the last scrape in which the event loop was busy, from 0 to 1.',
  },
  wayleave_queue_waiting: {
    type: 'gauge',
    label: 'queue',
    help: 'Requests that wait, by queue: "searches" (turns on the event loop), "pages" (memory for pages), "queries" (processes of the data engine) or "database" (statements of the control database).',
  },
  wayleave_queue_saturation: {
    type: 'gauge',
    over: 'max',
    label: 'queue',
    help: 'How much of the capacity of a queue is in use, from 0 to 1: "searches", "pages" or "queries".',
  },
  wayleave_memory_cache_hits_total: {
    type: 'counter',
    label: 'cache',
    help: 'Lookups that found their value in memory, by cache: "keys", "datasets", "features" (blocks of the pack) or "columns".',
  },
  wayleave_memory_cache_misses_total: {
    type: 'counter',
    label: 'cache',
    help: 'Lookups that had to read their value, by the same caches.',
  },
  wayleave_memory_cache_bytes: {
    type: 'gauge',
    label: 'cache',
    help: 'Memory of a cache: "features" or "columns".',
  },
  wayleave_connections_open: { type: 'gauge', help: 'Connections of clients that are open.' },
  wayleave_connections_max: {
    type: 'gauge',
    over: 'first',
    help: 'How many connections may be open at once.',
  },
  wayleave_connections_refused_total: {
    type: 'counter',
    label: 'reason',
    help: 'Connections that were closed at once, by reason: "total" or "address", the limit that was reached.',
  },
  wayleave_jobs: {
    type: 'gauge',
    over: 'first',
    label: ['kind', 'state'],
    help: 'Jobs of all nodes that have not ended, by kind ("publish", "inspect", "export", "tiles", "part") and state ("waiting", "running").',
  },
  wayleave_job_oldest_waiting_seconds: {
    type: 'gauge',
    over: 'first',
    label: 'kind',
    help: 'For how long the oldest waiting job of all nodes has waited, in seconds, by kind; 0 if none waits.',
  },
  wayleave_job_leases_lost_total: {
    type: 'counter',
    help: 'Jobs that this node found abandoned: their worker had died, or did not reach the database.',
  },
  wayleave_jobs_finished_total: {
    type: 'counter',
    label: 'state',
    help: 'Publishing jobs that this node has finished, by state: "done", "failed" or "cancelled".',
  },
  wayleave_job_duration_seconds: {
    type: 'histogram',
    help: 'How long publishing jobs ran, without waiting.',
  },
  wayleave_export_builds_waiting: {
    type: 'gauge',
    over: 'first',
    help: 'Builds of export files of all nodes that wait or run.',
  },
  wayleave_export_builds_failed_total: {
    type: 'counter',
    help: 'Builds of export files that failed on this node.',
  },
  wayleave_export_build_duration_seconds: {
    type: 'histogram',
    help: 'How long builds of export files ran, without waiting.',
  },
  wayleave_tile_builds_waiting: {
    type: 'gauge',
    over: 'first',
    help: 'Builds of vector tiles of all nodes that wait or run.',
  },
  wayleave_tile_builds_finished_total: {
    type: 'counter',
    label: 'state',
    help: 'Builds of vector tiles that this node has finished, by state: "done" or "failed".',
  },
  wayleave_tile_build_duration_seconds: {
    type: 'histogram',
    help: 'How long builds of vector tiles ran, without waiting.',
  },
  wayleave_mails_total: {
    type: 'counter',
    label: 'result',
    help: 'Mails, by result: "sent" (or written to the outbox) or "failed" for good.',
  },
  wayleave_webhook_attempts_total: {
    type: 'counter',
    label: 'result',
    help: 'Attempts to send a message to a webhook, by result: "delivered" or "failed".',
  },
  wayleave_credits_total: {
    type: 'counter',
    label: 'kind',
    help: 'Credits that this node has written to the ledger, by kind: "charged" or "refunded".',
  },
  wayleave_refunds_total: {
    type: 'counter',
    label: 'result',
    help: 'Refunds of downloads that could not be delivered, by result: "written" or "failed".',
  },
  wayleave_usage_unsaved_rows: { type: 'gauge', help: 'Rows of usage that are not in the database yet.' },
  wayleave_usage_unsaved_seconds: {
    type: 'gauge',
    over: 'max',
    help: 'For how long usage has waited to be saved, in seconds; 0 if none waits.',
  },
  wayleave_data_disk_free_bytes: {
    type: 'gauge',
    over: 'first',
    help: 'Bytes that the service may still write to the disk of the data folder.',
  },
  wayleave_data_disk_size_bytes: {
    type: 'gauge',
    over: 'first',
    help: 'The size of the disk of the data folder.',
  },
  wayleave_damaged_versions: {
    type: 'gauge',
    over: 'max',
    label: 'table',
    help: 'Published versions whose files are damaged or missing, by table. They are not served.',
  },
  wayleave_clock_held: {
    type: 'gauge',
    over: 'first',
    help: '1 while the clock is far ahead of the last run and nothing is deleted by it yet.',
  },
} as const satisfies Record<string, MetricRow>

export type MetricName = keyof typeof metricTable
