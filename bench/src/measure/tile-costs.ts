import { fileURLToPath } from 'node:url'
import { decimal, whole } from '../bench.ts'
import { runMeasured } from './measured-process.ts'

const builder = fileURLToPath(new URL('../tiles-process.ts', import.meta.url))

interface TilesOf {
  features: number
  /** The folder of the snapshot. */
  snapshot: string
  /** The file that is written. */
  out: string
}

/** What each feature of a large dataset costs when tiles are built, relative to one of a small dataset. */
export async function printTileCosts(
  small: TilesOf,
  large: TilesOf,
  print: (line: string) => void,
): Promise<void> {
  print('| points | tiles, s | processor s | µs of processor a feature | MB of memory |')
  print('|--:|--:|--:|--:|--:|')
  const costs: number[] = []
  for (const { features, snapshot, out } of [small, large]) {
    const measured = await runMeasured(process.execPath, [builder, snapshot, out])
    const { seconds, processorSeconds, peakMegabytes } = measured
    costs.push(processorSeconds / features)
    const figures = [decimal(seconds, 1), decimal(processorSeconds, 1), decimal(costs.at(-1)! * 1e6, 1)]
    print(`| ${whole(features)} | ${figures.join(' | ')} | ${whole(peakMegabytes)} |`)
  }
  print(
    `\nTiles of a feature of many : of a million, by processor time: ${decimal(costs[1]! / costs[0]!)} (aim: 1.2).`,
  )
}
