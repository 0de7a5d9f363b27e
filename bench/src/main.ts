/** `npm run bench [-- name… [--against folder] [--points n] [--tiles] [--rows text]]`: measures, and prints ratios of figures from the same run. */
import { availableParallelism, cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import type { Bench } from './bench.ts'

const benches = {
  frame: 'a small public response, against a bare node:http server that sends the same bytes',
  keys: 'a response that needs a key, against the same response without',
  publish: 'a file to a published snapshot, against ogr2ogr',
  exports: 'a snapshot to every format, against ogr2ogr',
  downloads: 'a finished export, against nginx that sends the same file',
  items: 'pages of features by bbox, against a bare node:http server that sends the same bytes',
  filters: 'filters, sort orders and facets, against the same page without, and against PostGIS',
  storage: 'nodes on a bucket, against a node on a folder; cold pages; a start with 10,000 datasets',
  facets: 'a click in the explorer on a million rows, in milliseconds',
  aggregates: 'groups of a million rows, against PostgreSQL with indexes and DuckDB on Parquet',
  tiles:
    'vector tiles: building against tippecanoe, serving against a bare node:http server, a filtered tile',
  threads: 'two serving threads, against one: rate, processor time and memory',
  cores: 'serving threads up to 64 cores, by a model with measured times of what they share',
  start:
    'a start until its first response, and the first tiles, from the sources and as built, in processor time',
  large:
    'many points (`--points n`) beside a million: publishing, the first page, memory, requests, facets and (`--tiles`) tiles',
  hostile:
    'the most expensive requests of each route, and others that exhaust a service, beside a key that reads pages',
  clients: 'the clients, against the tools their users would use without them',
}

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  const { positionals: names, values } = parseArgs({
    args,
    options: {
      against: { type: 'string' },
      points: { type: 'string' },
      rows: { type: 'string' },
      tiles: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  if (values.against !== undefined && names.join() !== 'publish') {
    console.error('--against <checkout> belongs to the bench publish.')
    return 2
  }
  if (values.rows !== undefined && names.join() !== 'hostile') {
    console.error('--rows <part of a name> belongs to the bench hostile.')
    return 2
  }
  const takesPoints = ['large', 'tiles'].includes(names.join())
  if (values.points !== undefined && !(takesPoints && /^[1-9]\d{3,9}$/.test(values.points))) {
    console.error('--points <number> belongs to the bench large or the bench tiles.')
    return 2
  }
  if (values.tiles && names.join() !== 'large') {
    console.error('--tiles belongs to the bench large.')
    return 2
  }
  const unknown = names.filter((name) => !Object.hasOwn(benches, name))
  if (unknown.length > 0) {
    console.error(`There is no bench ${unknown.join(', ')}. There are: ${Object.keys(benches).join(', ')}.`)
    return 2
  }
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  const memory = Math.round(totalmem() / 2 ** 30)
  console.log(`${availableParallelism()} cores (${model}), ${memory} GB, Node ${process.versions.node}\n`)
  let status = 0
  for (const [name, title] of Object.entries(benches)) {
    if (names.length > 0 && !names.includes(name)) continue
    const file = new URL(`./${name}.ts`, import.meta.url)
    console.log(`## ${name}: ${title}\n`)
    try {
      const { bench }: { bench: Bench } = await import(file.href)
      await bench((line) => console.log(line), values)
    } catch (error) {
      // Continue with the other benchmarks.
      console.error(error)
      status = 1
    }
    console.log('')
  }
  return status
}
