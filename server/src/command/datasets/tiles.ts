import { type Command, InvalidArgumentError } from 'commander'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { withParts } from '../with-parts.ts'

interface TilesFlags extends OperatorFlags {
  version?: string
  rebuild?: boolean
}

export function tilesCommand(): Command {
  return operatorCommand(
    'tiles <table>',
    'Build the vector tiles of a dataset now. A server does it by itself after publishing; this is for versions from before there were tiles, for older versions, and after a failure.',
    ['tiles places', 'tiles places --version 3', 'tiles places --rebuild --json'],
  )
    .option('--version <n>', 'a version other than the current one', versionNumber)
    .option(
      '--rebuild',
      'build them again although they are there, as after WAYLEAVE_TILE_MAX_ZOOM was changed',
    )
    .action(buildTiles)
}

function versionNumber(text: string): string {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1.')
  return text
}

async function buildTiles(table: string, flags: TilesFlags): Promise<void> {
  const line = new ProgressLine(process.stderr)
  const { built, version } = await withParts(flags, async ({ catalog, tileBuilds }) => {
    const dataset = await catalog.find(table)
    const chosen = flags.version === undefined ? dataset : await catalog.version(table, flags.version)
    if (chosen.manifest.located === 0) throw new Error(`No feature of ${table} has a place: it has no tiles.`)
    if (chosen.manifest.tiles === false)
      throw new Error(`${table} was published with --no-tiles. Publish it again without that option.`)
    const show = (share: number) => line.show(`Building tiles: ${Math.floor(share * 100)} %`)
    const options = { rebuild: flags.rebuild ?? false, show }
    try {
      return { built: await tileBuilds.buildNow(chosen, dataset, options), version: chosen.version }
    } finally {
      line.clear()
    }
  })
  const { bytes, maxZoom } = built
  print(
    flags,
    { table, version, bytes, maxZoom },
    `The tiles of ${table}, version ${version}, are built: zooms 0 to ${maxZoom}, ${bytes} bytes.`,
  )
}
