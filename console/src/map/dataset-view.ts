import 'maplibre-gl/dist/maplibre-gl.css'
import type { Feature } from '@wayleave/client'
import {
  AttributionControl,
  type GeoJSONSource,
  Map as LibreMap,
  type MapMouseEvent,
  Marker,
  NavigationControl,
  setWorkerUrl,
} from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url'
import type { Theme } from '../theme.ts'
import { countMarker } from './count-marker.ts'
import { drawnGeometry } from './drawn-geometry.ts'
import type { TileCount, View } from './feature-tiles.ts'
import { FEATURE_LAYERS, mapStyle } from './map-style.ts'
import { type Box, boxOf, middleOf, type TileName, tilesOf } from './tile.ts'

setWorkerUrl(workerUrl)

const FINE_FROM_ZOOM = 3
const REACH_PX = 4
/** Tiles are 128 to 256 pixels wide, so a view has about thirty. */
const TILE_ZOOM = 2

export interface ViewEvents {
  onMove: (tiles: TileName[]) => void
  onChoose: (feature: Feature | null) => void
}

/** The map on the page: draws the features it is given, and reports its view and clicks. */
export class DatasetView {
  readonly #map: LibreMap
  readonly #events: ViewEvents
  #features: Feature[] = []
  #chosen: Feature | null = null
  #fine = false
  #markers: Marker[] = []
  readonly #bbox: Box

  constructor(container: HTMLElement, bbox: Box, theme: Theme, events: ViewEvents) {
    this.#events = events
    this.#bbox = bbox
    this.#map = new LibreMap({
      container,
      style: mapStyle(theme),
      bounds: withinWorld(bbox),
      fitBoundsOptions: { padding: 24, maxZoom: 13 },
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      renderWorldCopies: true,
      maxZoom: 19,
    })
    this.#map.touchZoomRotate.disableRotation()
    this.#map.addControl(new NavigationControl({ showCompass: false }), 'top-right')
    this.#map.addControl(new AttributionControl({ compact: true }), 'bottom-right')
    this.#map
      .getCanvas()
      .setAttribute('aria-label', 'Map of the dataset. The sample below shows rows as text.')
    this.#map.on('moveend', () => this.#moved())
    this.#map.on('click', (event) => this.#clicked(event))
    this.#map.on('mousemove', (event) => {
      this.#map.getCanvas().style.cursor = this.#at(event) ? 'pointer' : ''
    })
    this.#map.on('style.load', () => this.#drawAll())
    this.#map.once('load', () => this.#moved())
  }

  setTheme(theme: Theme): void {
    this.#map.setStyle(mapStyle(theme), { diff: false })
  }

  setView({ features, counts }: View): void {
    this.#features = features
    this.#drawFeatures()
    this.#drawCounts(counts)
  }

  clearChoice(): void {
    this.#choose(null)
  }

  close(): void {
    this.#map.remove()
  }

  #moved(): void {
    const bounds = this.#map.getBounds()
    const zoom = Math.max(0, Math.min(18, Math.floor(this.#map.getZoom() + TILE_ZOOM)))
    const view: Box = [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()]
    this.#events.onMove(tilesOf(view, zoom))
    if (!this.#fine && this.#map.getZoom() >= FINE_FROM_ZOOM) {
      this.#fine = true
      this.#drawWorld()
    }
  }

  #drawAll(): void {
    this.#drawWorld()
    this.#drawFeatures()
  }

  async #drawWorld(): Promise<void> {
    const fine = this.#fine
    const { default: world } = fine
      ? await import('virtual:world/fine')
      : await import('virtual:world/coarse')
    if (fine !== this.#fine) return
    this.#source('land')?.setData(world.land)
    this.#source('borders')?.setData(world.borders)
  }

  /**
   * Features are identified by their index in the list, because their own ids may be strings, which the map's
   * tiles do not keep.
   */
  #drawFeatures(): void {
    const features = this.#features.map(({ geometry }, id) => ({
      type: 'Feature' as const,
      id,
      properties: {},
      geometry: drawnGeometry(geometry),
    }))
    this.#source('features')?.setData({ type: 'FeatureCollection', features } as never)
    this.#markChosen()
  }

  #drawCounts(counts: TileCount[]): void {
    for (const marker of this.#markers) marker.remove()
    const most = Math.max(...counts.map(({ count }) => count ?? 0))
    this.#markers = counts.map(({ tile, count }) => {
      const element = countMarker(count, most, () =>
        this.#map.fitBounds(withinWorld(boxOf(tile)), { padding: 8 }),
      )
      return new Marker({ element }).setLngLat(middleOf(tile, this.#bbox)).addTo(this.#map)
    })
  }

  #source(name: string): GeoJSONSource | undefined {
    return this.#map.getSource<GeoJSONSource>(name)
  }

  #at({ point }: MapMouseEvent): Feature | null {
    if (!this.#map.getLayer(FEATURE_LAYERS[0]!)) return null
    const [found] = this.#map.queryRenderedFeatures(
      [
        [point.x - REACH_PX, point.y - REACH_PX],
        [point.x + REACH_PX, point.y + REACH_PX],
      ],
      { layers: FEATURE_LAYERS },
    )
    return typeof found?.id === 'number' ? (this.#features[found.id] ?? null) : null
  }

  #clicked(event: MapMouseEvent): void {
    this.#choose(this.#at(event))
  }

  #choose(feature: Feature | null): void {
    this.#chosen = feature
    this.#markChosen()
    this.#events.onChoose(feature)
  }

  #markChosen(): void {
    if (!this.#source('features')) return
    this.#map.removeFeatureState({ source: 'features' })
    const id = this.#features.findIndex((feature) => feature.id === this.#chosen?.id)
    if (this.#chosen && id >= 0) this.#map.setFeatureState({ source: 'features', id }, { chosen: true })
  }
}

/** The map's projection ends before the poles. */
function withinWorld([west, south, east, north]: Box): Box {
  return [Math.max(-180, west), Math.max(-80, south), Math.min(180, east), Math.min(84, north)]
}
