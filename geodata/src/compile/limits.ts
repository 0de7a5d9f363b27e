export const DEFAULT_MAX_ROWS = 100_000_000
export const DEFAULT_THREADS = 2
