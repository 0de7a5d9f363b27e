import { stat } from 'node:fs/promises'
import { sourceBytes } from '../formats/reading/source-bytes.ts'
import type { CompileOptions } from './compile-options.ts'

/** The files of the version before that a revision reads. */
function revisedFiles({ revision }: CompileOptions): string[] {
  return revision ? [revision.before.rows, revision.before.ids].filter((path) => path !== null) : []
}

/** The files besides `path` that a compilation reads. */
export function otherFiles(options: CompileOptions): string[] {
  const parts = options.parts?.map(({ path }) => path).filter((path) => path !== options.path) ?? []
  const staged = options.staged ? [options.staged.plan, ...options.staged.parts] : []
  return [...parts, ...revisedFiles(options), ...staged]
}

/** The bytes of all files that a compilation reads, by which what it may write is bounded. */
export async function inputBytes(options: CompileOptions): Promise<number> {
  let bytes = options.growsTo ?? (await sourceBytes(options.path, options.parts).catch(() => 0))
  for (const path of revisedFiles(options)) bytes += (await stat(path)).size
  return bytes
}
