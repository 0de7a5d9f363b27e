import {
  LOOK_PARAMETERS,
  lookProblem,
  type MapLook,
  readLook,
  type Theme,
} from '@wayleave/contract/map-style'
import type { Snapshot } from '@wayleave/geodata/features'
import { planConditions, type QueryEngine, type TimedWork, type Workload } from '@wayleave/query'
import { invalidInput } from '../../base/problem.ts'
import type { Dataset, Version } from '../../data/catalog/dataset.ts'
import type { OpenSnapshots } from '../../data/catalog/open-snapshots.ts'
import { worldUrl } from '../../site/basemap/basemap-routes.ts'
import type { CrsList } from '../request/crs-list.ts'
import { type ItemsQuery, readItemsQuery } from '../request/items-query.ts'
import { parameterOf, type QueryPair } from '../request/query-string.ts'
import { hexagonScale, type StyledRows, styleScale } from './style-scale.ts'
import { type StyleOptions, tileStyle } from './tile-style.ts'
import { boundsOf, type Tileset } from './tileset-documents.ts'

const SELECTING = ['filter', 'filter-lang', 'filter-crs', 'datetime'] as const

/** The parameters of a style, beside `f` and `version`. */
export const STYLE_PARAMETERS = [...LOOK_PARAMETERS, 'theme', 'background', ...SELECTING] as const

/** A request for a style, validated against its dataset. */
export interface StyleRequest {
  look: MapLook
  theme: Theme
  hasBackground: boolean
  /** Which features the style shows; null for all. */
  query: ItemsQuery | null
  /** The same as parameters of tiles. */
  selection: string
}

export interface StyleDeps {
  engine: QueryEngine
  snapshots: OpenSnapshots
  workload: Workload
}

export function readStyleRequest(
  pairs: readonly QueryPair[],
  dataset: Dataset,
  rules: { crsList: CrsList },
): StyleRequest {
  const text = (name: string) => parameterOf(pairs, name) ?? ''
  const problem = lookProblem(text)
  if (problem) throw invalidInput(problem.parameter, problem.message)
  const look = readLook(text)
  const { columns } = dataset.manifest
  for (const name of ['color', 'size', 'label'] as const) {
    const column = columns.find((one) => one.name === look[name])
    if (look[name] === '') continue
    if (!column) throw invalidInput(name, `names no column: "${look[name].slice(0, 80)}"`)
    const isNumber = column.type === 'number' || column.type === 'integer'
    if (name === 'size' && !isNumber) throw invalidInput('size', 'must name a column of numbers')
    if (column.type === 'json') throw invalidInput(name, 'must not name a column of nested values')
  }
  const theme = text('theme') || 'light'
  if (theme !== 'light' && theme !== 'dark') throw invalidInput('theme', 'must be light or dark')
  const background = text('background') || 'world'
  if (background !== 'world' && background !== 'none')
    throw invalidInput('background', 'must be world or none')
  const selecting = pairs.filter(({ name }) => (SELECTING as readonly string[]).includes(name))
  const query = selecting.length === 0 ? null : readItemsQuery(selecting, undefined, dataset, rules)
  return {
    look,
    theme,
    hasBackground: background === 'world',
    query: query?.conditions ? query : null,
    selection: selecting.map(({ name, value }) => `&${name}=${encodeURIComponent(value)}`).join(''),
  }
}

/** The style that a request asks for. Its classes are those of the features that it shows. */
export async function requestedStyle(
  tileset: Tileset,
  request: StyleRequest,
  { base, keyQuery, work }: { base: string; keyQuery: string; work: TimedWork },
  { engine, snapshots, workload }: StyleDeps,
) {
  const { version } = tileset
  const { look, theme, query, selection, hasBackground } = request
  const plan = query?.conditions ? planConditions(query.conditions, version) : null
  const scales = await snapshots.use(version, (snapshot: Snapshot) =>
    workload.search(work, () => scalesOf({ engine, snapshot, version, query, plan, work }, look)),
  )
  const isSummed =
    look.draw === 'features' && version.manifest.geometryTypes.some((type) => /Point$/.test(type))
  const options: StyleOptions = {
    base,
    keyQuery,
    theme,
    look,
    ...scales,
    by: isSummed ? [...new Set([look.color, look.size].filter((name) => name !== ''))] : [],
    selection,
    worldUrl: hasBackground ? (file) => worldUrl(base, file) : null,
  }
  return tileStyle(tileset, options)
}

type Scales = Pick<StyleOptions, 'color' | 'size' | 'hexagons'>

async function scalesOf(rows: StyledRows, look: MapLook): Promise<Scales> {
  if (look.draw !== 'hexagons') {
    const color = look.color === '' ? null : await styleScale(rows, look.color, look.classing)
    const size = look.size === '' ? null : await styleScale(rows, look.size, look.sizing)
    return { color, size, hexagons: null }
  }
  const resolution = resolutionOf(rows.version)
  const column = rows.version.manifest.columns.find(
    ({ name, type }) => name === look.color && (type === 'number' || type === 'integer'),
  )
  const name = column ? `mean("${column.name.replaceAll('"', '""')}")` : 'count'
  const measure = column ? { name, column: column.name } : null
  const scale = await hexagonScale(rows, resolution, measure, look)
  const measures = JSON.stringify(measure ? ['count', name] : ['count'])
  return { color: null, size: null, hexagons: { groupby: `h3(${resolution})`, measures, scale } }
}

/** About forty cells along the longer side of the data. A cell of H3 is 2.6 times as wide as one of the next resolution. */
function resolutionOf(version: Version): number {
  const [west, south, east, north] = boundsOf(version)
  const cellKilometers = (Math.max(east - west, north - south, 0.01) * 111) / 40
  const resolution = Math.round(Math.log(2000 / cellKilometers) / Math.log(2.6458))
  return Math.max(0, Math.min(12, resolution))
}
