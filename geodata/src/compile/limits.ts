export const DEFAULT_MAX_ROWS = 1_000_000_000
export const DEFAULT_THREADS = 2
