import { useQuery } from '@tanstack/react-query'
import type { DatasetDetails } from '@wayleave/contract/records'
import { collectionUrl, nameList, readOgc } from '../../api/ogc.ts'
import { attributionOf } from './attribution.ts'
import type { DataSource } from './map-style.ts'

interface TileJson {
  tiles: string[]
  maxzoom: number
  bounds: [number, number, number, number]
  vector_layers: { id: string; fields: Record<string, string> }[]
}

/** The description of the dataset's tiles; undefined until they are ready. */
export function useTileset({ table, version, tiles }: DatasetDetails, enabled: boolean) {
  return useQuery({
    queryKey: ['tileset', table, version],
    queryFn: ({ signal }) =>
      readOgc<TileJson>(collectionUrl(table, '/tiles/WebMercatorQuad', { f: 'tilejson' }), signal),
    enabled: enabled && tiles?.state === 'ready',
    staleTime: 3_600_000,
  })
}

/** The tiles of the rows that match a filter, as a source of the map. `by` are the columns that they sum up. */
export function tileSource(
  dataset: DatasetDetails,
  tileset: TileJson,
  filter: string,
  by: readonly string[],
): DataSource {
  const { columns } = dataset
  const [layer] = tileset.vector_layers
  const template = new URL(tileset.tiles[0]!.replaceAll('{', '(').replaceAll('}', ')'))
  // The service may be reached under another name than it knows itself by.
  const path = template.pathname.replaceAll('(', '{').replaceAll(')', '}')
  const query = [
    template.search,
    ...(filter === '' ? [] : [`filter=${encodeURIComponent(filter)}`]),
    ...(by.length === 0 ? [] : [`by=${encodeURIComponent(nameList(by))}`]),
  ].join('&')
  const isColumn = (name: string) => columns.some((column) => column.name === name)
  const own = (name: string) => {
    const names = [name, ...Array.from({ length: 9 }, (_, index) => `${name}_${index + 1}`)]
    return names.find((candidate) => !isColumn(candidate))!
  }
  const idName = isColumn('id') ? own('feature_id') : 'id'
  return {
    kind: 'tiles',
    url: `${location.origin}${path}${query}`,
    layer: layer!.id,
    maxZoom: tileset.maxzoom,
    bounds: tileset.bounds,
    // Integer ids are ids of features in tiles; only those that tiles cannot hold are a property.
    idProperty: layer!.fields[idName] === 'String' ? idName : null,
    pointCount: own('point_count'),
    isSummed: by.length > 0,
    attribution: attributionOf(dataset),
  }
}
