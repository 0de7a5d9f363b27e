/** For short copies a loop is faster than a call into the runtime. */
export function copyBytes(from: Buffer, start: number, end: number, to: Buffer, at: number): number {
  if (end - start > 48) {
    from.copy(to, at, start, end)
    return at + (end - start)
  }
  for (let p = start; p < end; p++) to[at++] = from[p]!
  return at
}
