import { readFileSync } from 'node:fs'
import type { RunningServer } from './bare-server.ts'
import { type Load, type LoadResult, load } from './load.ts'

export interface Side {
  name: string
  server: RunningServer
  load: Omit<Load, 'origin'>
}

export interface SideResult extends LoadResult {
  /** Processor time of the server for one answer: steadier than the rate where other programs run too. */
  serverMicrosecondsPerRequest: number
}

export interface Comparison {
  ours: SideResult
  theirs: SideResult
  /** Our rate over theirs: the median of the rounds' ratios. */
  ratio: number
  /** Their processor time for one answer over ours. */
  processorRatio: number
}

/**
 * Loads two servers in turn, a few rounds each, so that whatever else slows the machine slows both. A
 * round with errors is no measurement: it throws.
 */
export async function compare(ours: Side, theirs: Side, rounds = 3): Promise<Comparison> {
  const pairs: [SideResult, SideResult][] = []
  for (let round = 0; round < rounds; round++) pairs.push([await measure(ours), await measure(theirs)])
  const middle = (of: (pair: [SideResult, SideResult]) => number) =>
    pairs.toSorted((a, b) => of(a) - of(b))[Math.floor(rounds / 2)]!
  const ratioOf = ([our, their]: [SideResult, SideResult]) => our.requestsPerSecond / their.requestsPerSecond
  const processorRatioOf = ([our, their]: [SideResult, SideResult]) =>
    their.serverMicrosecondsPerRequest / our.serverMicrosecondsPerRequest
  const [our, their] = middle(ratioOf)
  return {
    ours: our,
    theirs: their,
    ratio: ratioOf([our, their]),
    processorRatio: processorRatioOf(middle(processorRatioOf)),
  }
}

async function measure({ name, server, load: options }: Side): Promise<SideResult> {
  const { warmUpSeconds = 1, seconds = 3 } = options
  await load({ ...options, origin: server.origin, seconds: warmUpSeconds, warmUpSeconds: 0 })
  const before = processorSeconds(server.pid)
  const result = await load({ ...options, origin: server.origin, seconds, warmUpSeconds: 0 })
  const spent = processorSeconds(server.pid) - before
  if (result.errors > 0) throw new Error(`${name} answered ${result.errors} times with an error`)
  const answers = result.requestsPerSecond * seconds
  return { ...result, serverMicrosecondsPerRequest: (spent / answers) * 1e6 }
}

/** User and system time of all threads of a process, from Linux's table of processes. */
function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticksPerSecond = 100
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}
