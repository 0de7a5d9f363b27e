import { readFileSync } from 'node:fs'

const CHECK_MS = 500

/**
 * Calls `ended` once when a process that started this one has exited.
 *
 * `npx wayleave serve` is npm, a shell and the server. A process manager signals only npm: npm dies of SIGHUP
 * and SIGKILL, and forwards SIGTERM to the shell, which dies of it; either way the server gets no signal and
 * would run forever. So the server polls whether its parent, and npm behind a shell, still exist.
 *
 * See docs/decisions/parent-processes.md.
 */
export function watchParents(isStartedByNpm: boolean, ended: () => void): void {
  if (!isStartedByNpm && !isWrapper(process.ppid)) return
  const parents = startingProcesses()
  const timer = setInterval(() => {
    if (parents.every((parent, index) => parentOf(parents[index - 1] ?? null) === parent)) return
    clearInterval(timer)
    ended()
  }, CHECK_MS).unref()
}

/** The parent process, and its ancestors as long as they only wait for the process that they started. */
function startingProcesses(): number[] {
  const parents = [process.ppid]
  for (;;) {
    const last = parents.at(-1)!
    const next = isWaiting(last) ? parentOf(last) : null
    if (next === null) return parents
    parents.push(next)
  }
}

function isWaiting(pid: number): boolean {
  return isShell(pid) || isWrapper(pid)
}

/** Whether the process is a shell that runs one command (`sh -c`). */
function isShell(pid: number): boolean {
  return readProc(pid, 'cmdline')?.split('\0')[1] === '-c'
}

/**
 * Whether the process is `bin/wayleave.js`, or npm's link to it, on a Node that cannot exec the program in its
 * place.
 */
function isWrapper(pid: number): boolean {
  return /\/bin\/wayleave\.js$|\/\.bin\/wayleave$/.test(readProc(pid, 'cmdline')?.split('\0')[1] ?? '')
}

/** The parent of a process, or of this one if `pid` is null; null if it cannot be read. */
function parentOf(pid: number | null): number | null {
  if (pid === null) return process.ppid
  // The second field is the name in parentheses, which may contain anything; the fourth is the parent's pid.
  const parent = readProc(pid, 'stat')?.split(') ').at(-1)?.split(' ')[1]
  return parent === undefined ? null : Number(parent)
}

/** Only Linux has `/proc`. */
function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return null
  }
}
