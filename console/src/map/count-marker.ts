import { plural } from '../words.ts'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** A round marker with the number of features in its tile; a click zooms in there. */
export function countMarker(features: number | null, most: number, onClick: () => void): HTMLElement {
  const button = document.createElement('button')
  const share = features === null ? 1 : Math.log1p(features) / Math.log1p(most)
  const words = `${features === null ? 'Many features' : plural(features, 'feature')} here: zoom in`
  button.type = 'button'
  button.className = 'map-count'
  button.style.setProperty('--size', `${Math.round(26 + 26 * share ** 2)}px`)
  button.textContent = features === null ? 'many' : compact.format(features)
  button.title = words
  button.ariaLabel = words
  button.addEventListener('click', (event) => {
    event.stopPropagation()
    onClick()
  })
  return button
}
