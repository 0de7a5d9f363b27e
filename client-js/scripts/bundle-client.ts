import { join } from 'node:path'
import { build } from 'rolldown'

/** Writes the client as one readable file with a source map. */
export async function bundleClient(format: 'cjs' | 'esm', file: string): Promise<void> {
  await build({
    input: join(import.meta.dirname, '../src/index.ts'),
    platform: 'neutral',
    transform: { target: 'es2022' },
    output: { file, format, sourcemap: true, minify: false, exports: 'named', comments: { jsdoc: false } },
    logLevel: 'warn',
  })
}
