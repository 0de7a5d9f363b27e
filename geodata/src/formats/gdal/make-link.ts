import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Makes a symbolic link. Node refuses to make any in a process with limited permissions; other programs may. */
export async function makeLink(target: string, path: string): Promise<void> {
  await promisify(execFile)('ln', ['-s', '--', target, path])
}
