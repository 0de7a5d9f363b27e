import type { DatasetDetails } from '@wayleave/contract/records'

/** The name of the column whose values name the rows; null if no column has texts. */
export type LabelColumn = string | null

export function labelColumn({ columns }: Pick<DatasetDetails, 'columns'>): LabelColumn {
  const texts = columns.filter(({ type }) => type === 'text').map(({ name }) => name)
  const named = (pattern: RegExp) => texts.find((name) => pattern.test(name))
  return named(/^(name|title|label)$/i) ?? named(/name|title|label/i) ?? texts[0] ?? null
}
