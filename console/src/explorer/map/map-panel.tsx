import '../../styles/map.css'
import type { Feature } from '@wayleave/client'
import { useEffect, useRef, useState } from 'react'
import { useTheme } from '../../theme.ts'
import { plural } from '../../words.ts'
import type { Exploration } from '../access.ts'
import type { MapView } from '../address.ts'
import { FeatureDetails } from '../feature-details.tsx'
import type { Box } from '../filter/clause.ts'
import { labelColumn } from '../label-column.ts'
import type { Pointing } from '../pointing.ts'
import type { Selection } from '../selection.ts'
import { useMatchedInView } from '../use-matched.ts'
import { useBasemap } from './basemap.ts'
import type { Scale } from './coloring.ts'
import { addProtocol, type MapTarget } from './explorer-map.ts'
import { Legend } from './legend.tsx'
import { mapStatus } from './map-status.ts'
import { useExplorerMap } from './use-explorer-map.ts'
import { useMapSource } from './use-map-source.ts'
import type { ClassRows } from './use-scale.ts'

interface Props {
  exploration: Exploration
  view: MapView | null
  onView: (view: MapView, box: Box) => void
  /** Whenever another box object is passed, the map moves to it. */
  zoomBox?: Box | null
  color: Scale | null
  size: Scale | null
  /** Selects the rows whose values make the classes of the colors and sizes. */
  onClassRows?: (rows: ClassRows) => void
  pointing: Pointing
  selection: Selection
  /** Whether the map is shown on another site. */
  isEmbedded?: boolean
}

/** The dataset on a map, with its status, its legend and the attributes of the selected feature. */
export function MapPanel({
  exploration,
  view,
  onView,
  zoomBox = null,
  color,
  size,
  onClassRows,
  pointing,
  selection,
  isEmbedded = false,
}: Props) {
  const { dataset, access, filter } = exploration
  const place = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  const source = useMapSource(exploration)
  const basemap = useBasemap(theme, addProtocol)
  const [box, setBox] = useState<Box | null>(null)
  const inView = useMatchedInView(dataset, access, filter, box)
  const label = labelColumn(dataset)
  const { map, target, side, isBroken } = useExplorerMap(
    place,
    { bbox: dataset.bbox as Box, view, table: dataset.table },
    { theme, data: source.data, color, size, basemap },
    {
      pointing,
      selection,
      onView: (view, box) => {
        setBox(box)
        onView(view, box)
      },
    },
  )

  // One legend if the same column colors and sizes the features.
  const scales = [color, size?.column === color?.column ? null : size].filter((scale) => scale !== null)
  const hasClusters = source.data?.kind === 'tiles' && isOfPoints(dataset)
  const { feature } = selection

  useEffect(() => {
    if (!zoomBox || !map.current) return
    map.current.fit(zoomBox)
    // On a phone the map may be below the window.
    const { top, bottom } = place.current!.getBoundingClientRect()
    if ((top + bottom) / 2 > window.innerHeight) place.current!.scrollIntoView({ block: 'center' })
  }, [zoomBox])

  const status = isBroken
    ? 'This browser cannot draw maps (WebGL is off). The table shows the rows as text.'
    : mapStatus(dataset, access, source, inView.data, isEmbedded)
  return (
    <section
      className="map"
      aria-label="Map"
      data-map-theme={theme}
      data-panel-side={selection.id !== null && selection.from === 'map' ? side : undefined}
    >
      <div ref={place} className="map-canvas" />
      {target && !isBroken && <Tooltip target={target} label={label} />}
      <div className="map-foot">
        {scales.length > 0 && (
          <div className="map-legends">
            {scales.map((scale) => (
              <Legend
                key={scale.column}
                scale={scale}
                column={dataset.columns.find(({ name }) => name === scale.column)}
                isColor={scale === color}
                isSize={scale.column === size?.column}
                theme={theme}
                hasClusters={scale === color && hasClusters}
                isFiltered={filter !== ''}
                onRows={onClassRows}
              />
            ))}
          </div>
        )}
        <p className="map-note" role="status">
          {status}
        </p>
      </div>
      {selection.id !== null && selection.from === 'map' && (
        <FeatureDetails
          id={selection.id}
          feature={feature}
          error={selection.error}
          label={label}
          className={`map-details ${side}`}
          onClose={() => selection.select(null, 'map')}
        >
          <ZoomButton feature={feature} onZoom={(feature) => map.current?.show(feature)} />
        </FeatureDetails>
      )}
    </section>
  )
}

/** Only points are counted where they are too dense to be drawn one by one. */
function isOfPoints({ geometryTypes }: Exploration['dataset']): boolean {
  return geometryTypes.some((type) => type.endsWith('Point'))
}

function ZoomButton({ feature, onZoom }: { feature: Feature | null; onZoom: (feature: Feature) => void }) {
  if (!feature?.geometry) return null
  return (
    <button type="button" className="button small" onClick={() => onZoom(feature)}>
      Zoom to it
    </button>
  )
}

/** What is under the mouse. For screen readers the details say the same. */
function Tooltip({ target, label }: { target: MapTarget; label: string | null }) {
  const name = label ? target.properties[label] : undefined
  const cluster = target.count === 0 ? 'Part of a feature' : plural(target.count, 'feature')
  const text = target.id === null ? `${cluster}: click to zoom in` : String(name ?? target.id)
  return (
    <div
      className="map-tooltip"
      aria-hidden="true"
      dir="auto"
      style={{ transform: `translate(calc(${target.x}px - 50%), calc(${target.y}px - 2.4rem))` }}
    >
      {text}
    </div>
  )
}
