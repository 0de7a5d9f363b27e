import { integer } from './parsers.ts'
import { setting } from './setting.ts'

/** How many cores serve. */
export const threadsSettings = {
  threads: setting(
    'WAYLEAVE_THREADS',
    null as number | null,
    integer(1, 256),
    'Threads that serve requests on the same port. By default one fewer than the cores of the machine or its container, at least 1; 1 on systems other than Linux and with the role `worker`.',
  ),
} as const
