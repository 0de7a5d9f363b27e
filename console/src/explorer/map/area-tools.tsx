import { useId, useState } from 'react'

export type AreaTool = 'polygon' | 'circle'

const HINTS: Record<AreaTool, string> = {
  polygon: 'Click the corners. Click the first one again, or press Enter, to finish; Escape cancels.',
  circle: 'Click the middle, then the edge. Escape cancels.',
}

/** Selects the features in an area that is drawn on the map, or in a circle around its middle. */
export function AreaTools({
  tool,
  onTool,
  onRadius,
}: {
  /** What is being drawn. */
  tool: AreaTool | null
  onTool: (tool: AreaTool | null) => void
  /** A circle around the middle of the map, which needs no mouse. */
  onRadius: (kilometers: number) => void
}) {
  const [isOpen, setIsOpen] = useState(false)
  const [text, setText] = useState('100')
  const id = useId()
  const kilometers = Number(text)
  const isValid = kilometers > 0 && kilometers <= 5000
  return (
    <div className="area-tools">
      <button
        type="button"
        className="button small"
        aria-expanded={isOpen}
        onClick={() => {
          if (isOpen) onTool(null)
          setIsOpen(!isOpen)
        }}
      >
        Select an area
      </button>
      {isOpen && (
        <div className="area-choices">
          {(['polygon', 'circle'] as const).map((one) => (
            <button
              key={one}
              type="button"
              className="button small"
              aria-pressed={tool === one}
              onClick={() => onTool(tool === one ? null : one)}
            >
              {one === 'polygon' ? 'Polygon' : 'Radius'}
            </button>
          ))}
          <form
            onSubmit={(event) => {
              event.preventDefault()
              if (isValid) onRadius(kilometers)
            }}
          >
            <label htmlFor={id} className="small">
              km around the middle
            </label>
            <input
              id={id}
              inputMode="decimal"
              size={5}
              value={text}
              aria-invalid={!isValid}
              onChange={(event) => setText(event.target.value)}
            />
            <button type="submit" className="button small" disabled={!isValid}>
              Select
            </button>
          </form>
          {tool && (
            <p className="small soft" role="status">
              {HINTS[tool]}
            </p>
          )}
        </div>
      )}
    </div>
  )
}
