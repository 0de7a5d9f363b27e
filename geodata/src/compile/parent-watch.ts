/**
 * A thread of the compiling process. It kills the process and the programs that it started once the parent is
 * gone, even if the main thread is blocked.
 */
const INTERVAL_MS = 1000
const parent = process.ppid

setInterval(() => {
  if (process.ppid !== parent) process.kill(-process.pid, 'SIGKILL')
}, INTERVAL_MS)
