import { checkOptions } from './check-arguments.ts'
import { WayleaveError } from './errors.ts'
import type { Feature } from './feature.ts'
import type { ItemsOptions } from './items.ts'
import { type Bounds, type Box, contains, unwrappedBox, wrappedBox } from './view-box.ts'
import type { Wayleave } from './wayleave.ts'

const MAX_PAGE = 10_000
/** Any machine draws this many features smoothly, and they fit in one page of a few hundred kilobytes. */
const DEFAULT_MAX_FEATURES = 5000

/** As much of a MapLibre map as the source needs. */
export interface ItemsMap {
  addSource(id: string, source: { type: 'geojson'; data: FeatureCollection; attribution?: string }): unknown
  getSource(id: string): unknown
  removeSource(id: string): unknown
  removeLayer(id: string): unknown
  getStyle(): { layers?: readonly { id: string; source?: unknown }[] }
  getBounds(): Bounds
  on(event: 'moveend', listener: () => void): unknown
  off(event: 'moveend', listener: () => void): unknown
}

export interface FeatureCollection {
  type: 'FeatureCollection'
  features: Feature[]
}

export interface ItemsSourceOptions extends Pick<ItemsOptions, 'filter' | 'datetime' | 'columns'> {
  /** The id of the source in the map's style; the table's name without it. */
  id?: string | undefined
  /** The max number of features to load for a view (5,000). */
  maxFeatures?: number | undefined
  /** More fields of MapLibre's GeoJSON source, such as `cluster` or `promoteId`. */
  source?: Record<string, unknown> | undefined
  /** Called each time the features of a view have arrived. */
  onUpdate?: ((view: ItemsView) => void) | undefined
  /**
   * Called if the features of a later view cannot be loaded. By default the error is logged to the console.
   */
  onError?: ((error: unknown) => void) | undefined
}

export interface ItemsView {
  /** How many features the source has now. */
  loaded: number
  /** How many features there are in the view, if the service can count them quickly. */
  matched: number | undefined
  /** Whether all features of the view are loaded. If not, ask the user to zoom in. */
  complete: boolean
}

export interface ItemsSource {
  id: string
  /** The state of the last view. */
  readonly view: ItemsView
  /** Loads the current view again, for example after the dataset has changed. */
  refresh(): Promise<void>
  /** Stops loading, and removes the source and its layers from the map. */
  remove(): void
}

const OPTIONS = ['id', 'filter', 'datetime', 'columns', 'maxFeatures', 'source', 'onUpdate', 'onError']

/**
 * Adds a dataset to a MapLibre map as a GeoJSON source that has the features of the current view, and loads
 * others when the map moves. Resolves once the first view has arrived; the map's style must be loaded before.
 */
export async function addItemsSource(
  map: ItemsMap,
  wayleave: Wayleave,
  table: string,
  options: ItemsSourceOptions = {},
): Promise<ItemsSource> {
  checkOptions('addItemsSource()', options, OPTIONS)
  const { id = table, onUpdate, onError = console.error } = options
  const { geometryType, attribution } = await wayleave.dataset(table)
  if (geometryType === null) {
    throw new WayleaveError(`The dataset "${table}" has no geometry, so it cannot be drawn on a map.`)
  }
  let view: ItemsView = { loaded: 0, matched: undefined, complete: false }
  let loadedBox: Box | undefined
  let controller = new AbortController()

  /** A newer load replaces one that still runs, which is not an error. */
  const load = async () => {
    controller.abort()
    controller = new AbortController()
    const { signal } = controller
    try {
      const box = unwrappedBox(map.getBounds())
      const { features, matched, complete } = await featuresIn(wayleave, table, box, options, signal)
      signal.throwIfAborted()
      const source = map.getSource(id) as { setData(data: FeatureCollection): unknown } | undefined
      source?.setData({ type: 'FeatureCollection', features })
      loadedBox = complete ? box : undefined
      view = { loaded: features.length, matched, complete }
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    onUpdate?.(view)
  }
  const onMove = () => {
    const isLoaded = loadedBox !== undefined && contains(loadedBox, unwrappedBox(map.getBounds()))
    // A load that still runs may be for another view.
    if (isLoaded) controller.abort()
    else load().catch(onError)
  }
  const remove = () => {
    controller.abort()
    map.off('moveend', onMove)
    for (const layer of map.getStyle().layers ?? []) if (layer.source === id) map.removeLayer(layer.id)
    if (map.getSource(id)) map.removeSource(id)
  }

  map.addSource(id, {
    ...options.source,
    type: 'geojson',
    data: { type: 'FeatureCollection', features: [] },
    ...(attribution && { attribution: escapedHtml(attribution) }),
  })
  map.on('moveend', onMove)
  try {
    await load()
  } catch (error) {
    remove()
    throw error
  }
  return {
    id,
    get view() {
      return view
    },
    refresh: load,
    remove,
  }
}

async function featuresIn(
  wayleave: Wayleave,
  table: string,
  box: Box,
  { filter, datetime, columns, maxFeatures = DEFAULT_MAX_FEATURES }: ItemsSourceOptions,
  signal: AbortSignal,
): Promise<{ features: Feature[]; matched: number | undefined; complete: boolean }> {
  const limit = Math.min(maxFeatures, MAX_PAGE)
  const items = wayleave.items(table, { bbox: wrappedBox(box), limit, filter, datetime, columns, signal })
  const features: Feature[] = []
  let matched: number | undefined
  let complete = false
  let received = 0
  for await (const page of items.pages()) {
    matched ??= page.numberMatched
    const room = maxFeatures - received
    // Features without a geometry match every box; a map cannot show them.
    features.push(...page.features.slice(0, room).filter(({ geometry }) => geometry))
    complete = page.features.length <= room && !page.links.some(({ rel }) => rel === 'next')
    received += page.features.length
    if (received >= maxFeatures) break
  }
  return { features, matched, complete }
}

/** MapLibre takes attributions as HTML; the publisher's is a text. */
function escapedHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
