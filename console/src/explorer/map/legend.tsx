import type { Theme } from '../../theme.ts'
import { legendOf, type Scale, sizeOf } from './coloring.ts'

const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })

/** The classes of the column that colors or sizes the map. */
export function Legend({
  scale,
  size,
  theme,
  grey,
}: {
  scale: Scale
  size: Scale | null
  theme: Theme
  /** What is drawn without a color or size of its own. */
  grey: readonly string[]
}) {
  const isSized = size !== null && size.column === scale.column && size.kind === 'quantiles'
  const isColored = scale !== size
  return (
    <section className="map-legend" aria-label={`Legend: ${scale.column}`}>
      <strong dir="auto">{scale.column}</strong>
      <ul>
        {legendOf(scale, theme, (value) => short.format(value), grey).map(({ label, color }, index) => (
          <li key={label}>
            <svg width="18" height="14" viewBox="-9 -7 18 14" aria-hidden="true">
              <circle
                r={isSized ? Math.min(6.5, 2.6 * sizeOf(index)) : 5}
                fill={isColored ? color : 'var(--accent)'}
              />
            </svg>
            <span dir="auto">{label}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
