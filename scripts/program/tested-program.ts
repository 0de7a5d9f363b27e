import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../run-program.ts'

const root = join(import.meta.dirname, '../..')

/** Those of server/bin/wayleave.js. Servers that run inside the processes of tests take less time with them too. */
export const PROGRAM_FLAGS = ['--no-parallel-scavenge', '--min-semi-space-size=8', '--max-semi-space-size=32']

/** The command line program that tests start: the built one of a full run, otherwise the one of the sources. */
export function testedProgram(): string {
  return process.env['WAYLEAVE_TEST_PROGRAM'] ?? join(root, 'server', 'bin', 'wayleave.js')
}

/**
 * The arguments of Node that start it. The program needs these flags and UV_THREADPOOL_SIZE, which a full run sets:
 * without them it replaces its process by one that has them, which starts Node twice.
 */
export function testedProgramArguments(): string[] {
  return [...PROGRAM_FLAGS, testedProgram()]
}

/**
 * Builds the program for a run that starts it hundreds of times: as installed, it starts in less than half the
 * processor time that its sources take. The folder is inside the repository, so that native packages are found.
 */
export async function buildTestedProgram(): Promise<{ program: string; remove(): void }> {
  mkdirSync(join(root, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, '.cache', 'tested-program-'))
  const build = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'main.ts'), folder]
  await runProgram(process.execPath, build)
  return {
    program: join(folder, 'server', 'bin', 'wayleave.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
