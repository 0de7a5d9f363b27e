import { readFileSync } from 'node:fs'

const CHECK_MS = 500

/** A running process: its command line, and the id of its parent. */
export interface RunningProcess {
  command: string[]
  parent: number
}

/**
 * Calls `ended` once when npm, its shell or our wrapper, which started this process, has exited.
 *
 * `npx wayleave serve` is npm, a shell and the server. A process manager signals only npm: npm dies of SIGHUP
 * and SIGKILL, and forwards SIGTERM to the shell, which dies of it; either way the server gets no signal and
 * would run forever. So the server polls whether these processes still exist. It does not watch any other
 * parent: a script may start a server in the background and end.
 *
 * See docs/decisions/parent-processes.md.
 */
export function watchParents(isStartedByNpm: boolean, ended: () => void): void {
  const parents = watchedParents(process.ppid, isStartedByNpm, readProcess)
  if (parents.length === 0) return
  const parentOf = (pid: number | undefined) => (pid === undefined ? process.ppid : readProcess(pid)?.parent)
  const timer = setInterval(() => {
    if (parents.every((parent, index) => parentOf(parents[index - 1]) === parent)) return
    clearInterval(timer)
    ended()
  }, CHECK_MS).unref()
}

/** The processes to watch, from the parent of this one upwards: the wrapper, the shell of npm, and npm. */
export function watchedParents(
  parent: number,
  isStartedByNpm: boolean,
  processOf: (pid: number) => RunningProcess | null,
): number[] {
  const parents: number[] = []
  let next = parent
  const wrapper = processOf(next)
  if (wrapper && isWrapper(wrapper)) {
    parents.push(next)
    next = wrapper.parent
  }
  if (!isStartedByNpm) return parents
  const shell = processOf(next)
  if (shell && isShell(shell)) {
    const npm = processOf(shell.parent)
    return npm && isNpm(npm) ? [...parents, next, shell.parent] : parents
  }
  return shell && isNpm(shell) ? [...parents, next] : parents
}

/** Whether the process is a shell that runs one command (`sh -c`). */
function isShell({ command }: RunningProcess): boolean {
  return command[1] === '-c'
}

/** npm and pnpm replace their command line by a title such as `npm exec wayleave serve`; yarn does not. */
function isNpm({ command: [program = '', script = ''] }: RunningProcess): boolean {
  return /^(npm|npx|pnpm|yarn)\b/.test(program) || /\/(npm|npx|pnpm|yarn)(-cli)?(\.c?js)?$/.test(script)
}

/**
 * Whether the process is `bin/wayleave.js`, or npm's link to it, on a Node that cannot exec the program in its
 * place.
 */
function isWrapper({ command: [, script = ''] }: RunningProcess): boolean {
  return /\/bin\/wayleave\.js$|\/\.bin\/wayleave$/.test(script)
}

/** Returns null if the process has ended, or on systems without `/proc`. */
function readProcess(pid: number): RunningProcess | null {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    // The second field is the name in parentheses, which may contain anything; the fourth is the parent's pid.
    const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1]
    return { command, parent: Number(parent) }
  } catch {
    return null
  }
}
