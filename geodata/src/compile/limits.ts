export const DEFAULT_MAX_ROWS = 100_000_000
export const DEFAULT_THREADS = 2
/** The memory limit of the database. The rest of the process needs about the same amount again. */
export const DEFAULT_MEMORY_MEGABYTES = 400
