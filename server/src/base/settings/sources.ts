import { integer } from './parsers.ts'
import { setting } from './setting.ts'

/** How long a worker reads from an address that a publisher chose, and how many of them. */
export const sourcesSettings = {
  sourceSeconds: setting(
    'WAYLEAVE_SOURCE_SECONDS',
    7200,
    integer(1, 604_800),
    'Seconds after which reading a source is ended and its run fails.',
  ),
  sourceIdleSeconds: setting(
    'WAYLEAVE_SOURCE_IDLE_SECONDS',
    300,
    integer(1, 86_400),
    'Seconds within which a source has to send another 64 KB, or end. A database that computes for long before it sends its first row needs more.',
  ),
  sourceJobs: setting(
    'WAYLEAVE_SOURCE_JOBS',
    8,
    integer(0, 1000),
    'Sources that a server reads at the same time without using a place of WAYLEAVE_PUBLISH_JOBS. Compiling what was read needs such a place.',
  ),
  sourceJobsPerPublisher: setting(
    'WAYLEAVE_SOURCE_JOBS_PER_PUBLISHER',
    2,
    integer(1, 1000),
    'Sources of one organization, or of the operator, that all servers together read and publish at the same time. Others of it wait.',
  ),
} as const
