import { execFile } from 'node:child_process'
import { existsSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { moduleHooks } from './module-hooks.ts'

/** A full run compiles about ten thousand modules, some of them in temporary places, which are never used again. */
const MAX_FILES = 30_000

/**
 * The variables with which Node keeps what it compiles for other processes and for the next run, and imports bundled
 * packages. A run starts about five hundred processes with the same modules; those of the server take one second of
 * processor time instead of four. Node stores them when a process ends, so that the batches, which start together,
 * would each compile them: here one process does it before.
 */
export async function compiledModules(root: string): Promise<Record<string, string>> {
  const folder = join(root, '.cache', 'test-modules')
  if (globSync('**', { cwd: folder }).length > MAX_FILES) rmSync(folder, { recursive: true, force: true })
  const isNew = !existsSync(folder)
  const variables = {
    NODE_COMPILE_CACHE: folder,
    NODE_OPTIONS: await moduleHooks(root, folder),
  }
  const modules = join(root, 'server', 'src', 'testing', 'test-server.ts')
  if (isNew) await promisify(execFile)(process.execPath, [modules], { env: { ...process.env, ...variables } })
  return variables
}
