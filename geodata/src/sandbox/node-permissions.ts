import { dirname } from 'node:path'
import type { Bind } from './input-files.ts'

export interface PermittedFiles {
  binds: Bind[]
  writable: string[]
  /** Another program that may be started. */
  program: string | null
}

/**
 * Node's own permissions for the code in JavaScript: files and child processes. They do not hold for SQLite and for
 * native code, so they are an addition to the other layers.
 */
export function permissionFlags({ binds, writable, program }: PermittedFiles): string[] {
  // Readers look for siblings in the folder of the input; in the sandbox it contains nothing else.
  const readable = new Set(binds.flatMap(({ target }) => [target, dirname(target)]))
  return [
    '--permission',
    ...[...readable, ...writable].map((path) => `--allow-fs-read=${path}`),
    ...writable.map((path) => `--allow-fs-write=${path}`),
    '--allow-addons',
    '--allow-worker',
    ...(program === null ? [] : ['--allow-child-process']),
    '--disable-warning=SecurityWarning',
  ]
}
