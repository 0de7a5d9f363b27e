import '../../styles/map.css'
import type { Feature } from '@wayleave/client'
import type { MapLook, Scale } from '@wayleave/contract/map-style'
import { useEffect, useRef, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { useTheme } from '../../theme.ts'
import type { Exploration } from '../access.ts'
import type { MapView } from '../address.ts'
import { FeatureDetails } from '../feature-details.tsx'
import type { Box, Position } from '../filter/clause.ts'
import { labelColumn } from '../label-column.ts'
import type { Pointing } from '../pointing.ts'
import type { Selection } from '../selection.ts'
import { useMatchedInView } from '../use-matched.ts'
import { type AreaTool, AreaTools } from './area-tools.tsx'
import { useBasemap } from './basemap.ts'
import { circleAround } from './circle-around.ts'
import { addProtocol } from './explorer-map.ts'
import type { PickEntry } from './legend.tsx'
import { MapLegends } from './map-legends.tsx'
import { mapStatus } from './map-status.ts'
import { MapTooltip } from './map-tooltip.tsx'
import { useExplorerMap } from './use-explorer-map.ts'
import { useHexagons } from './use-hexagons.ts'
import { useMapSource } from './use-map-source.ts'
import type { ClassRows } from './use-scale.ts'

const NARROW_PX = 480

interface Props {
  exploration: Exploration
  view: MapView | null
  onView: (view: MapView, box: Box) => void
  /** Whenever another box object is passed, the map moves to it. */
  zoomBox?: Box | null
  look: MapLook
  color: Scale | null
  size: Scale | null
  /** Filters by an entry of a legend. Without it, entries are texts. */
  onPick?: PickEntry
  /** Changes the colors of values in the legend. Without it, they stay. */
  onColors?: (colors: MapLook['colors']) => void
  /** The rows whose values make the classes of the colors and sizes. */
  classes?: ClassRows
  onClassRows?: (rows: ClassRows) => void
  /** An area was drawn to select the features in it. Without it, areas cannot be drawn. */
  onArea?: (ring: Position[]) => void
  onLoading?: (isLoading: boolean) => void
  /** Whether the map fills the window. */
  isFull?: boolean
  /** Without it, a button of the map shows it alone on the whole screen. */
  onFull?: (isFull: boolean) => void
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
  look,
  color,
  size,
  onPick,
  onColors,
  classes = 'filtered',
  onClassRows,
  onArea,
  onLoading,
  isFull = false,
  onFull,
  pointing,
  selection,
  isEmbedded = false,
}: Props) {
  const { dataset, access, filter } = exploration
  const place = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  const source = useMapSource(exploration, look)
  const basemap = useBasemap(theme, addProtocol)
  const [seen, setSeen] = useState<{ view: MapView; box: Box } | null>(null)
  const [tool, setTool] = useState<AreaTool | null>(null)
  const inView = useMatchedInView(dataset, access, filter, seen?.box ?? null)
  const hexagons = useHexagons(exploration, look, seen?.view ?? null, seen?.box ?? null)
  const label = labelColumn(dataset)
  const { map, target, side, isBroken, isLoading, hasClusters } = useExplorerMap(
    place,
    { bbox: dataset.bbox as Box, view, table: dataset.table, hasScreenButton: onFull === undefined },
    { theme, data: source.data, look, color, size, hexagons, basemap },
    {
      pointing,
      selection,
      onView: (view, box) => {
        setSeen({ view, box })
        onView(view, box)
      },
      onArea: (ring) => {
        setTool(null)
        if (ring) onArea?.(ring)
      },
    },
  )
  const isWaiting = !isBroken && !source.error && (isLoading || source.data === null)
  useEffect(() => onLoading?.(isWaiting), [isWaiting])
  useEffect(() => map.current?.draw(tool), [tool])
  useEffect(() => map.current?.setFull(isFull), [isFull])

  useEffect(() => {
    if (!zoomBox || !map.current) return
    map.current.fit(zoomBox)
    // On a phone the map may be below the window.
    const { top, bottom } = place.current!.getBoundingClientRect()
    if ((top + bottom) / 2 > window.innerHeight) place.current!.scrollIntoView({ block: 'center' })
  }, [zoomBox])

  const status = isBroken
    ? 'This browser cannot draw maps (WebGL is off). The table shows the rows as text.'
    : mapStatus(dataset, access, source, inView, isEmbedded)
  // The table, which has the attributes otherwise, is not beside a full map.
  const hasDetails = selection.id !== null && (selection.from === 'map' || isFull)
  return (
    <section
      className="map"
      aria-label="Map"
      aria-busy={isWaiting}
      data-map-theme={theme}
      data-panel-side={hasDetails ? side : undefined}
    >
      <div ref={place} className="map-canvas" />
      {isWaiting && <div className="map-loading" aria-hidden="true" />}
      {target && !isBroken && <MapTooltip target={target} label={label} dataset={dataset} look={look} />}
      {onFull && <FullButton isFull={isFull} onFull={onFull} />}
      {onArea && !isBroken && (
        <AreaTools
          tool={tool}
          onTool={setTool}
          onRadius={(kilometers) => map.current && onArea(circleAround(map.current.middle, kilometers))}
        />
      )}
      <div className="map-foot">
        <MapLegends
          dataset={dataset}
          look={look}
          color={look.draw === 'features' ? color : (hexagons?.scale ?? null)}
          size={look.draw === 'features' ? size : null}
          theme={theme}
          // In a small frame it would cover the map.
          isFoldedFirst={isEmbedded && innerWidth < NARROW_PX}
          hasSums={hasClusters && source.data?.kind === 'tiles' && source.data.isSummed}
          filter={filter}
          classes={classes}
          onPick={look.draw === 'features' ? onPick : undefined}
          onColor={onColors && ((value, color) => onColors(new Map(look.colors).set(value, color)))}
          onRows={look.draw === 'features' ? onClassRows : undefined}
        />
        <p className="map-note" role="status">
          {isWaiting && source.data !== null ? `${status.replace(/\.$/, '')} · loading` : status}
        </p>
      </div>
      {hasDetails && (
        <FeatureDetails
          id={selection.id!}
          feature={selection.feature}
          error={selection.error}
          isExcluded={selection.isExcluded}
          label={label}
          columns={dataset.columns}
          className={`map-details ${side}`}
          onPick={onPick && ((clause) => onPick(clause, false))}
          onClose={() => selection.select(null, 'map')}
        >
          <ZoomButton feature={selection.feature} onZoom={(feature) => map.current?.show(feature)} />
        </FeatureDetails>
      )}
    </section>
  )
}

function FullButton({ isFull, onFull }: { isFull: boolean; onFull: (isFull: boolean) => void }) {
  return (
    <button
      type="button"
      className="map-full"
      title={isFull ? 'Leave the full window (Escape)' : 'Fill the window'}
      aria-label="Map in the full window"
      aria-pressed={isFull}
      onClick={() => onFull(!isFull)}
    >
      <Icon name={isFull ? 'shrink' : 'expand'} />
    </button>
  )
}

function ZoomButton({ feature, onZoom }: { feature: Feature | null; onZoom: (feature: Feature) => void }) {
  if (!feature?.geometry) return null
  return (
    <button type="button" className="button small" onClick={() => onZoom(feature)}>
      Zoom to it
    </button>
  )
}
