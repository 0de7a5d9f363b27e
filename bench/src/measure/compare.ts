import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { RunningServer } from './bare-server.ts'
import { type Load, type LoadResult, load } from './load.ts'

export interface Side {
  name: string
  server: RunningServer
  load: Omit<Load, 'origin'>
}

export interface SideResult extends LoadResult {
  /** The server's CPU time per response, which is more stable than the rate if other programs are running. */
  serverMicrosecondsPerRequest: number
  /** The same per gigabyte, for responses that take longer than a round. */
  serverSecondsPerGigabyte: number
}

export interface Comparison {
  ours: SideResult
  theirs: SideResult
  /** Our rate divided by theirs: the median of the rounds' ratios. */
  ratio: number
  /** Their CPU time per response divided by ours. */
  processorRatio: number
}

/** Long enough for the JIT compiler to optimise the code for these requests. */
const WARM_UP_SECONDS = 2
const ROUNDS = 7
const MAX_IDLE_SECONDS = 1800

/** Compares two servers under alternating load. */
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

export interface ByteComparison {
  ours: SideResult
  theirs: SideResult
  /** Our bytes a second divided by theirs: the median of the rounds' ratios. */
  ratio: number
  /** Our CPU time per byte divided by theirs. */
  processorMultiple: number
}

/** The same for large responses, by bytes instead of responses. */
export async function compareBytes(ours: Side, theirs: Side): Promise<ByteComparison> {
  const rounds = await loadInTurn([ours, theirs])
  const ratioOf = ([our, their]: SideResult[]) => our!.bytesPerSecond / their!.bytesPerSecond
  const multipleOf = ([our, their]: SideResult[]) =>
    our!.serverSecondsPerGigabyte / their!.serverSecondsPerGigabyte
  const [our, their] = middle(rounds, ratioOf)
  return {
    ours: our!,
    theirs: their!,
    ratio: ratioOf([our!, their!]),
    processorMultiple: multipleOf(middle(rounds, multipleOf)),
  }
}

/** The CPU time per response of each side relative to the first: the median of the rounds. */
export async function compareProcessorTime(sides: Side[]): Promise<number[]> {
  const rounds = await loadInTurn(sides)
  return sides.map((_, i) => {
    const ratioOf = (round: SideResult[]) =>
      round[i]!.serverMicrosecondsPerRequest / round[0]!.serverMicrosecondsPerRequest
    return ratioOf(middle(rounds, ratioOf))
  })
}

/**
 * Runs several short rounds in which every side has a turn, so that anything else that slows the machine
 * affects all sides. A round with errors throws, because it is not a valid measurement.
 */
async function loadInTurn(sides: Side[]): Promise<SideResult[][]> {
  for (const { server, load: options } of sides) {
    await load({ ...options, origin: server.origin, seconds: WARM_UP_SECONDS, warmUpSeconds: 0 })
  }
  for (const { server } of sides) await untilIdle(server.pid)
  const rounds: SideResult[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    const results = []
    for (const side of sides) results.push(await measure(side))
    rounds.push(results)
  }
  return rounds
}

/** A server reads all bytes of a snapshot in a thread after it was first used, to check them. */
async function untilIdle(pid: number): Promise<void> {
  for (let before = processorSeconds(pid), second = 0; second < MAX_IDLE_SECONDS; second++) {
    await delay(1000)
    const now = processorSeconds(pid)
    if (now - before < 0.1) return
    before = now
  }
  throw new Error('A server that was warm did not become idle')
}

function middle(rounds: SideResult[][], of: (round: SideResult[]) => number): SideResult[] {
  return rounds.toSorted((a, b) => of(a) - of(b))[Math.floor(rounds.length / 2)]!
}

async function measure({ name, server, load: options }: Side): Promise<SideResult> {
  const { seconds = 1 } = options
  const before = processorSeconds(server.pid)
  const result = await load({ ...options, origin: server.origin, seconds, warmUpSeconds: 0 })
  const spent = processorSeconds(server.pid) - before
  if (result.errors > 0) {
    const counts = JSON.stringify(result.errorCounts)
    throw new Error(`${name} responded ${result.errors} times with an error: ${counts}`)
  }
  const responses = result.requestsPerSecond * seconds
  const gigabytes = (result.bytesPerSecond * seconds) / 1e9
  return {
    ...result,
    serverMicrosecondsPerRequest: (spent / responses) * 1e6,
    serverSecondsPerGigabyte: spent / gigabytes,
  }
}

/** User and system time of all threads of a process, from /proc. */
function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticksPerSecond = 100
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}
