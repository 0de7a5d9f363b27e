import { readFileSync } from 'node:fs'

const CHECK_MS = 500

/**
 * Calls `ended` once when a process that this one was started through has ended.
 *
 * `npx wayleave serve` is npm, a shell and the server. A process manager signals npm alone: npm dies of SIGHUP and
 * SIGKILL, and passes SIGTERM on to the shell, which dies of it; either way the server hears nothing and would go
 * on for ever. So the server looks whether its parent, and npm behind a shell, are still there.
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

/** The parent, and its parents for as long as they only wait for the process that they started. */
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

/** A shell that runs one command. */
function isShell(pid: number): boolean {
  return readProc(pid, 'cmdline')?.split('\0')[1] === '-c'
}

/** `bin/wayleave.js` on a Node that cannot replace itself by the program. */
function isWrapper(pid: number): boolean {
  return readProc(pid, 'cmdline')?.split('\0')[1]?.endsWith('bin/wayleave.js') ?? false
}

/** The parent of a process, null being this one; null if it cannot be read. */
function parentOf(pid: number | null): number | null {
  if (pid === null) return process.ppid
  // The second field is the name in brackets, which may hold anything; the fourth is the parent.
  const parent = readProc(pid, 'stat')?.split(') ').at(-1)?.split(' ')[1]
  return parent === undefined ? null : Number(parent)
}

/** Only Linux has these files. */
function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return null
  }
}
