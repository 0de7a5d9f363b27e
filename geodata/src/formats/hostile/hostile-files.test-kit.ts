import { ARCHIVE_FILES } from './archive-files.test-kit.ts'
import type { HostileFile } from './hostile-file.test-kit.ts'
import { SQLITE_FILES } from './sqlite-files.test-kit.ts'
import { TEXT_FILES } from './text-files.test-kit.ts'

export type { Canary, HostileFile } from './hostile-file.test-kit.ts'

/**
 * Files that try to read other files, to reach a server or to compute without end. Each is refused, or published
 * with its own rows only; whatever reads files of others can be tested with this list.
 */
export const HOSTILE_FILES: HostileFile[] = [...SQLITE_FILES, ...TEXT_FILES, ...ARCHIVE_FILES]
