/** The positions of all lists from `from` on, ascending, each once. */
export function distinctFrom(lists: readonly Uint32Array[], from: number): Uint32Array {
  const all = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0))
  let count = 0
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) if (list[i]! >= from) all[count++] = list[i]!
  }
  const sorted = all.subarray(0, count).sort()
  let distinct = 0
  for (let i = 0; i < count; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[distinct++] = sorted[i]!
  return sorted.subarray(0, distinct)
}

/** The index of the first number that is not smaller. */
export function firstAtLeast(ascending: Uint32Array, value: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
