import type { Readable } from 'node:stream'
import type { Compiled, CompileOptions, CompileProgress, Inspection } from './compile-options.ts'
import type { InvalidSourceError } from './invalid-source-error.ts'
import type { PlannedParts } from './stage/stage-plan.ts'

/** What the process is told to do, by one line of JSON. */
export type CompileTask = { options: CompileOptions } & (
  | { task: 'compile' | 'inspect' }
  /** Divide the source for several workers, or stage one of the parts. */
  | { task: 'plan'; partBytes: number }
  | { task: 'part'; part: number }
)

/** The messages from the compiling process to its parent: lines of JSON on a pipe of their own. */
export type CompileMessage =
  | { progress: CompileProgress }
  /** Sent every second while the process can run its event loop. */
  | { alive: true }
  | { compiled: Compiled }
  | { inspected: Inspection }
  | { planned: PlannedParts | null }
  | { stagedPart: true }
  | { mismatch: { file: string; misfits: string[] } }
  | { invalid: { file: string; problems: InvalidSourceError['problems']; problemCount: number } }
  | { refused: string }
  | { diskFull: true }
  | { failed: string }

export const MESSAGE_FD = 3
/** A manifest with the statistics of 10,000 columns has a tenth of this. */
const MAX_MESSAGE_BYTES = 256 << 20

/**
 * Calls back for each message. A process that a file has taken over may send anything: a line without an end is
 * refused before it fills the memory of the service.
 */
export function readMessages(
  pipe: Readable,
  onMessage: (message: CompileMessage) => void,
  onExcess: () => void,
): void {
  let parts: Buffer[] = []
  let length = 0
  pipe.on('data', (chunk: Buffer) => {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end))
      onMessage(JSON.parse(Buffer.concat(parts).toString()))
      parts = []
      length = 0
      start = end + 1
    }
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > MAX_MESSAGE_BYTES) {
      parts = []
      pipe.destroy()
      onExcess()
    }
  })
}
