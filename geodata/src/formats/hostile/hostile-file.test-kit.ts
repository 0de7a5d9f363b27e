import type { SourceOptions } from '../index.ts'

/** What a hostile file tries to reach, and where it is made. */
export interface Canary {
  /** An empty folder for the file. */
  folder: string
  /** The path of a file on this machine that contains the secret and nothing else, and that must not be opened. */
  canaryFile: string
  canarySecret: string
  /** A port on loopback to which nothing must connect. */
  canaryPort: number
}

/** A file that tries to read more than itself. */
export interface HostileFile {
  name: string
  /** The format that it is, or pretends to be. */
  format: string
  /** Makes the file and returns its path. */
  make(canary: Canary): string
  options?: Pick<SourceOptions, 'layer' | 'format'>
  /** Refused with such a message, or published with its own rows, of which one has the value `own`. */
  expected: { refused: RegExp } | 'own-rows'
}
