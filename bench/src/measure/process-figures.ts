import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessFigures {
  megabytes: number
  processorSeconds: number
}

/** The memory and the processor time of a process and all processes that it started, from /proc. */
export function figuresOf(pid: number): ProcessFigures {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? statOf(Number(name)) : null
    if (fields) parents.set(Number(name), Number(fields[1]))
  }
  const isInside = (process: number): boolean =>
    process === pid || (parents.has(process) && isInside(parents.get(process)!))
  const total = { megabytes: 0, processorSeconds: 0 }
  for (const process of parents.keys()) {
    if (!isInside(process)) continue
    const fields = statOf(process)
    if (!fields) continue
    total.megabytes += (Number(fields[21]) * 4096) / 1e6
    // Those of ended children are part of the figures of their parent.
    for (const field of [11, 12, 13, 14]) total.processorSeconds += Number(fields[field]) / 100
  }
  return total
}

/** The fields of /proc/<pid>/stat from the third on; null if the process has ended. */
function statOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
