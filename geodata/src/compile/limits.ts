export const DEFAULT_MAX_ROWS = 100_000_000
export const DEFAULT_THREADS = 2
/** For the database; the rest of the process needs about as much again. */
export const DEFAULT_MEMORY_MEGABYTES = 400
