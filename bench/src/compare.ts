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

/** Long enough for the code to be compiled for what it is asked. */
const WARM_UP_SECONDS = 2
const ROUNDS = 7

/** Two servers, loaded in turn. */
export async function compare(ours: Side, theirs: Side): Promise<Comparison> {
  const rounds = await loadInTurn([ours, theirs])
  const ratioOf = ([our, their]: SideResult[]) => our!.requestsPerSecond / their!.requestsPerSecond
  const processorRatioOf = ([our, their]: SideResult[]) =>
    their!.serverMicrosecondsPerRequest / our!.serverMicrosecondsPerRequest
  const [our, their] = middle(rounds, ratioOf)
  return {
    ours: our!,
    theirs: their!,
    ratio: ratioOf([our!, their!]),
    processorRatio: processorRatioOf(middle(rounds, processorRatioOf)),
  }
}

/** How much processor time an answer of each side takes, against the first: the median of the rounds. */
export async function compareProcessorTime(sides: Side[]): Promise<number[]> {
  const rounds = await loadInTurn(sides)
  return sides.map((_, i) => {
    const ratioOf = (round: SideResult[]) =>
      round[i]!.serverMicrosecondsPerRequest / round[0]!.serverMicrosecondsPerRequest
    return ratioOf(middle(rounds, ratioOf))
  })
}

/**
 * Several short rounds, in each of which every side has its turn, so that whatever else slows the machine slows
 * all of them. A round with errors is no measurement: it throws.
 */
async function loadInTurn(sides: Side[]): Promise<SideResult[][]> {
  for (const { server, load: options } of sides) {
    await load({ ...options, origin: server.origin, seconds: WARM_UP_SECONDS, warmUpSeconds: 0 })
  }
  const rounds: SideResult[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    const results = []
    for (const side of sides) results.push(await measure(side))
    rounds.push(results)
  }
  return rounds
}

function middle(rounds: SideResult[][], of: (round: SideResult[]) => number): SideResult[] {
  return rounds.toSorted((a, b) => of(a) - of(b))[Math.floor(rounds.length / 2)]!
}

async function measure({ name, server, load: options }: Side): Promise<SideResult> {
  const { seconds = 1 } = options
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
