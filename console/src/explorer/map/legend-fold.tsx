import { type ReactNode, useState } from 'react'

/** A legend that folds to its title, so that it does not cover a small map. */
export function LegendFold({
  label,
  title,
  isFoldedFirst,
  children,
}: {
  label: string
  title: ReactNode
  /** Whether it is folded until it is opened. */
  isFoldedFirst: boolean
  children: ReactNode
}) {
  const [isOpen, setIsOpen] = useState(!isFoldedFirst)
  return (
    <section className="map-legend" aria-label={`Legend: ${label}`}>
      <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary title={isOpen ? 'Fold the legend' : 'Show the legend'}>
          <strong>{title}</strong>
        </summary>
        {children}
      </details>
    </section>
  )
}
