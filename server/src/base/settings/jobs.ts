import { choice, integer } from './parsers.ts'
import { setting } from './setting.ts'

/** Which process publishes and builds, and how much at a time. */
export const jobsSettings = {
  role: setting(
    'WAYLEAVE_ROLE',
    'all' as 'all' | 'api' | 'worker',
    choice('all', 'api', 'worker'),
    'What this process does: "api" serves requests and leaves publishing and builds to workers, "worker" runs these jobs and serves only /health, /ready and /metrics, "all" does both. "api" and "worker" need PostgreSQL.',
    { flag: true },
  ),
  publishJobs: setting(
    'WAYLEAVE_PUBLISH_JOBS',
    2,
    integer(0, 64),
    'Uploads that a server publishes at the same time; 0 if it publishes none. Uploads of the same table are published one after the other.',
  ),
  exportJobs: setting(
    'WAYLEAVE_EXPORT_JOBS',
    1,
    integer(0, 64),
    'Download files that a server builds at the same time; 0 if it builds none. A build uses all cores that it gets. The files of one version are built one after the other.',
  ),
  tileJobs: setting(
    'WAYLEAVE_TILE_JOBS',
    1,
    integer(0, 64),
    'Datasets whose vector tiles a server builds at the same time; 0 if it builds none.',
  ),
  tilePartBytes: setting(
    'WAYLEAVE_TILE_PART_BYTES',
    512 * 1024 ** 2,
    integer(65_536, 1024 ** 4),
    'With PostgreSQL, workers share the vector tiles of datasets with at least three times as many bytes of features: each builds parts of this size. They also share reading large Parquet sources of publishing jobs, in parts of an eighth of this size, which have about as many bytes of features. A worker that dies loses the part that it works on.',
  ),
  exportWait: setting(
    'WAYLEAVE_EXPORT_WAIT',
    600,
    integer(1, 86_400),
    'Seconds for which a download waits for its file to be built, before it gets 503 and is not charged. The build goes on.',
  ),
} as const
