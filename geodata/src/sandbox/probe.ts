import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { minimalEnvironment } from './minimal-environment.ts'

const TIMEOUT_MS = 10_000

/** In the sandbox, a file of the program is readable and Node can be started. */
const SCRIPT = 'test -r "$1" || { echo "$1 is not readable" >&2; exit 1; }; exec "$2" --version'

/**
 * Tries the sandbox once. Null if it works, otherwise why it does not. Node only states its version: a start tries
 * this, and running a script would take as much processor time as a twentieth of the start.
 */
export async function probe(
  closed: (inner: string[], folder: string) => Promise<string[]>,
): Promise<string | null> {
  if (process.platform !== 'linux') return 'bubblewrap exists for Linux only.'
  let folder: string | null = null
  try {
    folder = await mkdtemp(join(tmpdir(), 'wayleave-sandbox-'))
    const inner = ['/bin/sh', '-c', SCRIPT, 'sh', import.meta.filename, process.execPath]
    const [program, ...args] = await closed(inner, folder)
    await new Promise<void>((resolve, reject) => {
      execFile(
        program!,
        args,
        { env: minimalEnvironment(folder!), timeout: TIMEOUT_MS },
        (error, _, stderr) => {
          if (error) reject(Object.assign(error, { stderr }))
          else resolve()
        },
      )
    })
    return null
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string }
    if (code === 'ENOENT') return 'bubblewrap is not installed (package bubblewrap).'
    const reason = (stderr ?? '').trim().split('\n')[0] || String(error)
    return `bubblewrap does not work here: ${reason}. It needs user namespaces; containers and units must permit them.`
  } finally {
    if (folder !== null) await rm(folder, { recursive: true, force: true })
  }
}
