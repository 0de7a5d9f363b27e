import { totalmem } from 'node:os'

/** The memory of the machine or of its container, whichever is less, in bytes. */
export function machineMemory(
  machineBytes: number = totalmem(),
  /** 0 if there is no container, or a huge number if it has no limit. */
  containerBytes: number = process.constrainedMemory(),
): number {
  return containerBytes > 0 ? Math.min(machineBytes, containerBytes) : machineBytes
}
