import type { DatasetRecord } from '@wayleave/contract/records'
import type { About } from '../../http/about.ts'

/** A page of more datasets than this helps no reader; the others are in the list over HTTP. */
const MAX_DATASETS = 500

/** What the service offers, as Markdown for language models (llms.txt). */
export function llms(
  datasets: readonly DatasetRecord[],
  { title, description }: About,
  base: string,
): string {
  const lines = datasets
    .slice(0, MAX_DATASETS)
    .map(({ table, title: name, rows }) => `- [${inLine(name)}](${base}/v1/dataset/${table}): ${rows} rows`)
  return `# ${inLine(title)}

> ${inLine(description)}

Assistants use the Model Context Protocol at ${base}/mcp. Programs use the HTTP interface.

## Documentation

- [Assistants](${base}/docs/assistants): tools, sign-in, keys
- [HTTP interface](${base}/v1/openapi.json): OpenAPI
- [OGC API - Features](${base}/v1/ogc): features, filters, tiles
- [All datasets](${base}/v1/datasets): as JSON

## Datasets

${lines.join('\n')}
`
}

/** Titles are the publishers' words: without what Markdown would take for structure. */
function inLine(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[[\]<>\\`]/g, '')
    .slice(0, 200)
}
