import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileNodeFlags } from '@wayleave/geodata/compile'
import { decimal, whole } from './bench.ts'
import { generateGeojson } from './measure/generate.ts'
import { type Measured, runMeasured } from './measure/measured-process.ts'
import { median } from './measure/median.ts'

const FEATURES = 1_000_000
const ROUNDS = 6

const PROGRAM = 'bench/src/publish-process.ts'

/** Publishing in this checkout compared with another checkout of the project, in alternating runs. */
export async function benchAgainst(print: (line: string) => void, checkout: string): Promise<void> {
  const programs = [fileURLToPath(new URL('./publish-process.ts', import.meta.url)), join(checkout, PROGRAM)]
  if (!existsSync(programs[1]!)) throw new Error(`${programs[1]} is missing: is it a checkout?`)
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  try {
    const source = join(folder, 'places.geojson')
    await generateGeojson(source, { features: FEATURES })
    const runs: [Measured[], Measured[]] = [[], []]
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, program] of programs.entries()) {
        const snapshot = join(folder, 'snapshot')
        runs[i]!.push(await runMeasured(process.execPath, [...compileNodeFlags(), program, source, snapshot]))
        await rm(snapshot, { recursive: true })
      }
    }
    print(
      `${whole(FEATURES)} points in GeoJSON to a snapshot, ${ROUNDS} alternating runs with the other checkout.\n`,
    )
    print('| medians | here | there | here of there |')
    print('|---|--:|--:|--:|')
    for (const [name, figure, digits] of [
      ['seconds', (run: Measured) => run.seconds, 2],
      ['seconds of processor time', (run: Measured) => run.processorSeconds, 2],
      ['MB of memory', (run: Measured) => run.peakMegabytes, 0],
    ] as const) {
      const [here, there] = runs.map((each) => median(each.map(figure))) as [number, number]
      print(`| ${name} | ${decimal(here, digits)} | ${decimal(there, digits)} | ${decimal(here / there)} |`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
