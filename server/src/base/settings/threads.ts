import { integer } from './parsers.ts'
import { setting } from './setting.ts'

/** How many cores serve. */
export const threadsSettings = {
  threads: setting(
    'WAYLEAVE_THREADS',
    null as number | null,
    integer(1, 256),
    'Threads that serve requests on the same port. By default as many as the machine or its container has cores, less one for jobs unless the role is `api`, and at most one for each 256 MB of memory; 1 on systems other than Linux and with the role `worker`.',
  ),
} as const
