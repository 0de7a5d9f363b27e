/** Runs `work` for each item with at most `limit` calls in flight. Rejects with the first failure. */
export async function eachBounded<T>(
  limit: number,
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = Iterator.from(items)
  const lane = async () => {
    for (const item of iterator) await work(item)
  }
  await Promise.all(Array.from({ length: limit }, lane))
}
