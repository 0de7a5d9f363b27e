/** Builds the tiles of one snapshot and exits; the benchmark measures this process from outside. */
import { buildTiles } from '@wayleave/geodata/tiles'

const [folder, outPath, maxZoom] = process.argv.slice(2)
const options = { table: 'bench', ...(maxZoom ? { maxZoom: Number(maxZoom) } : {}) }
const built = await buildTiles(folder!, outPath!, options)
process.stdout.write(`${JSON.stringify(built)}\n`)
