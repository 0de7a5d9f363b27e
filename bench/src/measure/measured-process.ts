import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { figuresOf } from './process-figures.ts'

export interface Measured {
  seconds: number
  /** CPU time of all threads, which is more stable than wall-clock time if other programs are running. */
  processorSeconds: number
  peakMegabytes: number
}

const POLL_MS = 10
/** All processes of the machine are looked at. */
const TREE_POLL_MS = 100

export interface MeasureOptions {
  environment?: Record<string, string>
  /** Measures the processes that it starts too. */
  isTree?: boolean
}

/** Runs a program to its end and measures it; throws if the program fails. */
export async function runMeasured(
  command: string,
  args: string[],
  { environment = {}, isTree = false }: MeasureOptions = {},
): Promise<Measured> {
  const started = performance.now()
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  })
  const measured: Measured = { seconds: 0, processorSeconds: 0, peakMegabytes: 0 }
  const sample = () => (isTree ? lookAtAll(child.pid!, measured) : look(child.pid!, measured))
  const poll = setInterval(sample, isTree ? TREE_POLL_MS : POLL_MS)
  const problems = text(child.stderr)
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  }).finally(() => clearInterval(poll))
  measured.seconds = (performance.now() - started) / 1000
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${await problems}`)
  return measured
}

/** Memory is that of all processes together. Ended processes stay part of the figures of those that started them. */
function lookAtAll(pid: number, measured: Measured): void {
  const { megabytes, processorSeconds } = figuresOf(pid)
  measured.peakMegabytes = Math.max(measured.peakMegabytes, megabytes)
  measured.processorSeconds = Math.max(measured.processorSeconds, processorSeconds)
}

/** Reads the figures from /proc. The last sample is at most a few milliseconds before the end. */
function look(pid: number, measured: Measured): void {
  try {
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (!peak) return
    measured.peakMegabytes = Number(peak[1]) / 1024
    measured.processorSeconds = (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    // The process ended between two samples.
  }
}
