import '../styles/map.css'
import type { Dataset, Feature } from '@wayleave/client'
import { useEffect, useRef, useState } from 'react'
import { asProblem } from '../api/problem.ts'
import { useMe, useSample, useSession } from '../api/queries.ts'
import { useTheme } from '../theme.ts'
import { DatasetView } from './dataset-view.ts'
import { FeatureAttributes } from './feature-attributes.tsx'
import { FeatureTiles, type View } from './feature-tiles.ts'
import { isSmall, loadTile, WORLD } from './load-tile.ts'
import { sampleFeatures } from './sample-features.ts'
import type { Box, TileName } from './tile.ts'
import { viewWords } from './view-words.ts'

const PAUSE_MS = 120

/** The dataset on a map: all of it if the user's add-ons allow it, otherwise its sample. */
export function DatasetMap({ dataset }: { dataset: Dataset }) {
  const place = useRef<HTMLDivElement>(null)
  const map = useRef<DatasetView>(null)
  const theme = useTheme()
  const [tiles, setTiles] = useState<TileName[] | null>(null)
  const [chosen, setChosen] = useState<Feature | null>(null)
  const [broken, setBroken] = useState(false)
  const view = useView(dataset, tiles)

  useEffect(() => {
    try {
      map.current = new DatasetView(place.current!, dataset.bbox as Box, theme, {
        onMove: setTiles,
        onChoose: setChosen,
      })
    } catch {
      setBroken(true)
    }
    return () => map.current?.close()
  }, [dataset.table])

  const firstTheme = useRef(theme)
  useEffect(() => {
    if (firstTheme.current === theme) return
    firstTheme.current = theme
    map.current?.setTheme(theme)
  }, [theme])

  useEffect(() => {
    if (view.shown) map.current?.setView(view.shown)
  }, [view.shown])

  const words = broken
    ? 'This browser cannot draw maps (WebGL is off). The sample shows rows as text.'
    : view.error
      ? asProblem(view.error).message
      : viewWords(view.shown, view.kind, view.loading, dataset.rows)
  return (
    <section
      className="map"
      aria-label="Map"
      data-map-theme={theme}
      data-map-features={view.shown?.features.length}
    >
      <div ref={place} className="map-canvas" />
      <p className="map-note" role="status">
        {words}
      </p>
      {chosen && <FeatureAttributes feature={chosen} onClose={() => map.current?.clearChoice()} />}
    </section>
  )
}

type Kind = 'all' | 'signed-out' | 'locked'

function useView(dataset: Dataset, tiles: TileName[] | null) {
  const signedIn = useSession() === 'signed-in'
  const me = useMe()
  const open = me.data?.organization?.addOns.includes('GIS_ACCESS') ?? false
  const kind: Kind | null = !signedIn ? 'signed-out' : me.data ? (open ? 'all' : 'locked') : null
  const sample = useSample(
    dataset.table,
    dataset.version,
    kind !== null && kind !== 'all' && dataset.sample !== null,
  )
  const store = useRef<FeatureTiles>(null)
  const [shown, setShown] = useState<View | null>(null)
  const [loading, setLoading] = useState(true)
  const [error, setError] = useState<unknown>(null)

  useEffect(() => {
    store.current = new FeatureTiles((tile, signal) => loadTile(dataset, tile, signal))
  }, [dataset.table, dataset.version])

  useEffect(() => {
    if (kind !== 'all' || tiles === null) return
    const stop = new AbortController()
    setLoading(true)
    const timer = setTimeout(() => {
      store.current!.fill(isSmall(dataset) ? [WORLD] : tiles, stop.signal, setShown).then(
        () => {
          setLoading(false)
          setError(null)
        },
        (failure: unknown) => {
          if (!stop.signal.aborted) setError(failure)
        },
      )
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [kind, tiles, dataset])

  useEffect(() => {
    if (kind === null || kind === 'all') return
    if (dataset.sample !== null && !sample.data) return
    const features = sampleFeatures(sample.data ?? [])
    setShown({ features, counts: [], matched: dataset.rows, complete: false })
    setLoading(false)
  }, [kind, sample.data, dataset])

  return { shown, loading, error, kind }
}
