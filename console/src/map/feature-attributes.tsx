import type { Feature } from '@wayleave/client'
import { Icon } from '../components/icon.tsx'
import { cellText } from '../datasets/cell-text.ts'

export function FeatureAttributes({ feature, onClose }: { feature: Feature; onClose: () => void }) {
  return (
    <section className="map-attributes fades stack-small" aria-label="Attributes" aria-live="polite">
      <div className="row spread">
        <h2 className="small">Feature {String(feature.id)}</h2>
        <button
          type="button"
          className="button quiet small"
          onClick={onClose}
          aria-label="Close the attributes"
        >
          <Icon name="close" />
        </button>
      </div>
      <dl className="facts">
        {Object.entries(feature.properties).map(([name, value]) => (
          <div key={name} className="contents">
            <dt>{name}</dt>
            <dd>{cellText(value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
