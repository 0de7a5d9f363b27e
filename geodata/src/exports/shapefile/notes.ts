import type { Column } from '../../feature.ts'
import type { Field } from './fields.ts'
import type { Layer } from './layers.ts'
import { MAX_TEXT, type Survey } from './survey.ts'

/** The notes file in the archive: what a shapefile cannot represent; null if there is nothing to report. */
export function notes(
  table: string,
  columns: readonly Column[],
  fields: readonly Field[],
  survey: Survey,
  layers: readonly Layer[],
  { parts, ringsLeftOut }: { parts: readonly (readonly string[])[]; ringsLeftOut: number },
): string | null {
  const renamed = columns.flatMap(({ name }, i) =>
    name === fields[i]!.name ? [] : [`${fields[i]!.name.padEnd(12)}${name}`],
  )
  const cut = columns.flatMap(({ name, type }, i) => {
    const { tooLong } = survey.columns[i]!
    return tooLong === 0 || type === 'number'
      ? []
      : [`${name}: ${tooLong} ${tooLong === 1 ? 'value' : 'values'}`]
  })
  const asText = columns.flatMap(({ name, type }, i) =>
    type === 'integer' && fields[i]!.type === 'C' ? [name] : [],
  )
  const sections = [
    section(
      'Columns whose names were changed, because a shapefile allows ten bytes (field, column):',
      renamed,
    ),
    section(`Columns with values that were cut to ${MAX_TEXT} bytes, the most a shapefile holds:`, cut),
    section('Integer columns written as text, because their values have more than 18 digits:', asText),
    layers.length > 1
      ? section(
          'A shapefile holds one kind of shape, so there is a layer for each:',
          layerLines(layers, survey),
        )
      : '',
    section(
      'A shapefile holds at most 2 GB, so these layers are in several parts:',
      layers.flatMap(({ name }, i) => (parts[i]!.length > 1 ? [`${name}: ${parts[i]!.join(', ')}`] : [])),
    ),
    ringsLeftOut > 0
      ? `Rings without any area, which a shapefile cannot hold, were left out: ${ringsLeftOut}.\n`
      : '',
  ].filter(Boolean)
  return sections.length > 0 ? `${table}\n\n${sections.join('\n')}` : null
}

function layerLines(layers: readonly Layer[], survey: Survey): string[] {
  const lines = layers.map(({ name, family }) => `${name}: ${family === 'point' ? 'points' : `${family}s`}`)
  if (survey.withoutPlace > 0)
    lines.push(`The features without a shape (${survey.withoutPlace}) are in ${layers[0]!.name}.`)
  if (survey.collections > 0) {
    lines.push(
      `Features of mixed parts (${survey.collections}) were divided: each layer has their parts of its kind, ` +
        'with all attributes.',
    )
  }
  return lines
}

function section(title: string, lines: string[]): string {
  return lines.length > 0 ? `${title}\n${lines.map((line) => `  ${line}\n`).join('')}` : ''
}
