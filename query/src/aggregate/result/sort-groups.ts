import type { TimedWork } from '../../work/timed-work.ts'

type Compare = (a: number, b: number) => number

/** Groups that are sorted without a pause: about a millisecond. */
const CHUNK = 1024

/** Sorts groups in time slices: chunks first, which are then merged. */
export async function sortGroups(
  groups: Uint32Array,
  compare: Compare,
  work: TimedWork,
): Promise<Uint32Array> {
  const { length } = groups
  for (let from = 0; from < length; from += CHUNK) {
    groups.subarray(from, from + CHUNK).sort(compare)
    await work.next()
  }
  let source = groups
  let target = length > CHUNK ? new Uint32Array(length) : groups
  for (let width = CHUNK; width < length; width *= 2) {
    for (let from = 0; from < length; from += width * 2)
      await merge(
        source,
        target,
        from,
        Math.min(length, from + width),
        Math.min(length, from + width * 2),
        compare,
        work,
      )
    ;[source, target] = [target, source]
  }
  return source
}

async function merge(
  source: Uint32Array,
  target: Uint32Array,
  from: number,
  middle: number,
  to: number,
  compare: Compare,
  work: TimedWork,
): Promise<void> {
  let left = from
  let right = middle
  for (let at = from; at < to; at++) {
    const isLeft = right >= to || (left < middle && compare(source[left]!, source[right]!) <= 0)
    target[at] = isLeft ? source[left++]! : source[right++]!
    if (at % CHUNK === 0) await work.next()
  }
}
