import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { countScale, type MapLook, numberScale, type Scale } from '@wayleave/contract/map-style'
import { collectionUrl, readOgc } from '../../api/ogc.ts'
import { useSettled } from '../../components/use-settled.ts'
import type { Exploration } from '../access.ts'
import type { MapView } from '../address.ts'
import type { Box } from '../filter/clause.ts'
import { isNumeric } from './color-columns.ts'
import type { Hexagons } from './map-style.ts'

/** The service returns no more groups at once; a view has a few hundred cells. */
const MAX_CELLS = 10_000
const MAX_RESOLUTION = 12

interface Cells {
  features: { properties: Record<string, unknown>; geometry: unknown }[]
}

/** The H3 resolution whose cells are about 20 pixels wide: each has a seventh of the area of the one before. */
function resolutionAt(zoom: number): number {
  return Math.max(0, Math.min(MAX_RESOLUTION, Math.floor(1 + 0.71 * zoom)))
}

/** The cells in view, with the number of their features or the mean of the column that gives the colors. */
export function useHexagons(
  { dataset, access, filter }: Exploration,
  look: MapLook,
  view: MapView | null,
  box: Box | null,
): Hexagons | null {
  const { table, version } = dataset
  const settled = useSettled(box, 200)
  const column = dataset.columns.find(({ name, type }) => name === look.color && isNumeric(type))
  const resolution = resolutionAt(view?.zoom ?? 0)
  const measure = column ? `mean("${column.name.replaceAll('"', '""')}")` : null
  const { data } = useQuery({
    queryKey: ['hexagons', table, version, filter, resolution, measure, settled, look.classing],
    queryFn: async ({ signal }) => {
      const query = {
        f: 'geojson',
        groupby: `h3(${resolution})`,
        measures: JSON.stringify(['count', ...(measure ? [measure] : [])]),
        bbox: settled!.map((degrees) => Number(degrees.toFixed(4))).join(','),
        limit: MAX_CELLS,
        filter,
      }
      const cells = await readOgc<Cells>(collectionUrl(table, '/aggregate', query), signal)
      return hexagonsOf(cells, column?.name ?? null, look)
    },
    enabled: access === 'all' && look.draw === 'hexagons' && settled !== null,
    placeholderData: keepPreviousData,
    staleTime: 300_000,
  })
  return look.draw === 'hexagons' ? (data ?? null) : null
}

/** Cells with the properties `count` and, if a column gives the colors, that column. */
function hexagonsOf({ features }: Cells, column: string | null, { classing }: MapLook): Hexagons | null {
  const property = column ?? 'count'
  const cells = features.map(({ properties, geometry }) => {
    const [, mean] = Object.entries(properties).find(([name]) => name.startsWith('mean(')) ?? []
    const value = column === null ? {} : typeof mean === 'number' ? { [column]: mean } : {}
    return { type: 'Feature', properties: { count: properties['count'], ...value }, geometry }
  })
  const values = cells
    .map(({ properties }) => (properties as Record<string, unknown>)[property])
    .filter((value) => typeof value === 'number')
    .sort((a, b) => a - b)
  if (values.length === 0) return null
  const fifths = [0.2, 0.4, 0.6, 0.8].map((share) => values[Math.floor(share * (values.length - 1))]!)
  const summary = { min: values[0]!, max: values.at(-1)!, fifths }
  const scale: Scale = {
    ...(column === null ? countScale(summary, classing) : numberScale(summary, classing, false)),
    column: property,
    rows: 'filtered',
    nulls: 0,
  }
  return { collection: { type: 'FeatureCollection', features: cells }, scale }
}
