import { type Html, html } from '../../http/pages/html.ts'
import { plainText } from '../../http/pages/plain-text.ts'

const MAX_DESCRIPTION = 240

/** What the list shows of a dataset. */
export interface DatasetCard {
  table: string
  href: string
  title: string
  description: string
  /** A table has no small map. */
  hasPlaces: boolean
  /** The last line. */
  fact: string
}

export function datasetCards(base: string, datasets: readonly DatasetCard[]): Html {
  return html`<ul class="choices datasets">${datasets.map(
    ({ table, href, title, description, hasPlaces, fact }) =>
      html`<li>${hasPlaces ? picture(base, table) : null}<a href="${href}">${title}</a><p>${shorten(plainText(description))}</p><p class="soft">${fact}</p></li>`,
  )}</ul>`
}

/** The text beside it says more, so it has none of its own; nothing is shown while there is no picture. */
function picture(base: string, table: string): Html {
  return html`<img src="${base}/v1/dataset/${table}/thumbnail.svg" alt="" loading="lazy" width="400" height="200">`
}

function shorten(text: string): string {
  return text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION)}…` : text
}
