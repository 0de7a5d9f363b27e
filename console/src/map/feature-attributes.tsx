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
            <dd>
              {typeof value === 'string' && isAddress(value) ? <Address url={value} /> : cellText(value)}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** Only http(s) URLs become links: data must not create a link that runs a script. */
function isAddress(text: string): boolean {
  return /^https?:\/\/\S+$/.test(text)
}

function Address({ url }: { url: string }) {
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {url}
    </a>
  )
}
