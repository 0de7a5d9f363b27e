export const DEFAULT_MAX_ROWS = 200_000_000
export const DEFAULT_THREADS = 2
