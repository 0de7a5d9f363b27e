import type { DatasetRecord } from '@wayleave/contract/records'
import { type About, siteRecord } from '../../http/about.ts'
import { Html, html } from '../../http/pages/html.ts'
import { plainText } from '../../http/pages/plain-text.ts'
import { datasetPage } from './dcat.ts'
import { schemaOrgDataset } from './schema-org.ts'

const MAX_DESCRIPTION = 300

/** What the head of a console page says to search engines and to programs that preview links. */
export function pageHead(dataset: DatasetRecord | null, about: About, base: string): Html {
  const site = html`<link rel="stylesheet" href="/site/colors.css" />
    ${about.logo && html`<link rel="icon" href="${about.logo}" />`}
    <script type="application/json" id="site">${jsonInPage(siteRecord(about))}</script>`
  if (dataset === null)
    return html`${tags(about.title, about.description, `${base}/`)}
    ${site}`
  const { title, description, table } = dataset
  const text =
    plainText(description) || `${title}: ${dataset.rows} rows, in ${dataset.formats.length} formats.`
  return html`${tags(`${title} – ${about.title}`, text, datasetPage(base, table))}
    <script type="application/ld+json">${jsonInPage(schemaOrgDataset(dataset, about, base))}</script>
    ${site}`
}

/** JSON in a script element, which only `<` could end. */
function jsonInPage(value: object): Html {
  return new Html(JSON.stringify(value).replaceAll('<', '\\u003c'))
}

function tags(title: string, description: string, url: string): Html {
  const short =
    description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION - 1)}…` : description
  const described = html`<meta name="description" content="${short}" />
    <meta property="og:description" content="${short}" />`
  return html`<title>${title}</title>
    ${short === '' ? null : described}
    <meta property="og:title" content="${title}" />
    <meta property="og:type" content="website" />
    <meta property="og:url" content="${url}" />
    <link rel="canonical" href="${url}" />`
}
