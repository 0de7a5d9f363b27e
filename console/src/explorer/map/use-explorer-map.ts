import { type RefObject, useEffect, useRef, useState } from 'react'
import type { MapView } from '../address.ts'
import type { Box, Position } from '../filter/clause.ts'
import type { Pointing } from '../pointing.ts'
import type { Selection } from '../selection.ts'
import { ExplorerMap, type GivenParts, type MapTarget } from './explorer-map.ts'

interface Start {
  table: string
  bbox: Box
  view: MapView | null
  hasScreenButton: boolean
}

interface Uses {
  pointing: Pointing
  selection: Selection
  onView: (view: MapView, box: Box) => void
  onArea: (ring: Position[] | null) => void
}

/** A map in an element, which follows the style, the pointed and the selected feature. */
export function useExplorerMap(
  place: RefObject<HTMLDivElement | null>,
  { table, bbox, view, hasScreenButton }: Start,
  parts: GivenParts,
  uses: Uses,
) {
  const map = useRef<ExplorerMap>(null)
  const [target, setTarget] = useState<MapTarget | null>(null)
  const [isBroken, setIsBroken] = useState(false)
  const [isLoading, setIsLoading] = useState(true)
  const [hasClusters, setHasClusters] = useState(false)
  const [side, setSide] = useState<'left' | 'right'>('left')
  const { pointing, selection } = uses
  const current = useRef(uses)
  current.current = uses

  useEffect(() => {
    const element = place.current!
    try {
      map.current = new ExplorerMap(element, { bbox, view, hasScreenButton }, parts, {
        onView: (view, box) => current.current.onView(view, box),
        onPoint: (target) => {
          setTarget(target)
          pointing.point(target?.id ? { id: target.id, from: 'map', feature: null } : null)
        },
        onSelect: (target) => {
          // The panel opens on the other half, so that it does not cover the feature.
          if (target) setSide(target.x < element.clientWidth / 2 ? 'right' : 'left')
          current.current.selection.select(target?.id ?? null, 'map')
        },
        onError: (message) => console.warn(message),
        onLoading: setIsLoading,
        onClusters: setHasClusters,
        onArea: (ring) => current.current.onArea(ring),
      })
    } catch {
      setIsBroken(true)
    }
    const watch = new ResizeObserver(() => map.current?.resize())
    watch.observe(element)
    return () => {
      watch.disconnect()
      map.current?.close()
      map.current = null
    }
  }, [table])

  const { theme, data, look, color, size, hexagons, basemap } = parts
  useEffect(() => map.current?.setParts(parts), [theme, data, look, color, size, hexagons, basemap])

  const { feature, from } = selection
  useEffect(() => {
    const mark = () => {
      const pointed = pointing.current?.from === 'table' ? pointing.current.feature : null
      map.current?.setMarks({ selected: feature, pointed })
    }
    mark()
    return pointing.subscribe(mark)
  }, [feature, pointing])

  useEffect(() => {
    if (feature && from === 'table') map.current?.show(feature)
  }, [feature, from])

  return { map, target, side, isBroken, isLoading, hasClusters }
}
