import { EXTRACT_PRICES, type ExtractPrice } from '@wayleave/contract/extract-prices'
import { UPDATE_FREQUENCIES, type UpdateFrequency } from '@wayleave/contract/update-frequencies'
import { VISIBILITIES, type Visibility } from '@wayleave/contract/visibilities'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { invalidInput } from '../../base/problem.ts'
import type { ColumnNotes } from '../catalog/column-notes.ts'
import type { DatasetDescription } from '../catalog/dataset.ts'

/** PostgreSQL cannot store NUL characters in text. */
export const NO_ZERO = '^[^\\x00]*$'

export const boundedText = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, pattern: NO_ZERO, description }))

/** The fields of a description that an upload and a change of the description share. */
export const descriptionProperties = {
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: NO_ZERO })),
  description: boundedText(10_000, 'What the dataset holds, in Markdown; HTML in it is shown as text.'),
  license: boundedText(500, 'The license: an SPDX identifier such as `CC-BY-4.0`, an address or a name.'),
  attribution: boundedText(1000, 'Whom users must name.'),
  contact: boundedText(500, 'Who knows more about the dataset: a mail address, an address or a name.'),
  citation: boundedText(2000, 'How to cite the dataset.'),
  updateFrequency: Type.Optional(
    Type.Unsafe<UpdateFrequency>({
      type: 'string',
      enum: [...UPDATE_FREQUENCIES],
      description: 'How often the dataset is updated; empty if that is not stated.',
    }),
  ),
  visibility: Type.Optional(
    Type.Unsafe<Visibility>({
      type: 'string',
      enum: [...VISIBILITIES],
      description:
        'Who sees the dataset: everybody (`public`), everybody and its data without a key (`open`), organizations with a grant (`private`), or its publishers (`draft`).',
    }),
  ),
  credits: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: 'What one download costs; 1 for a new dataset.',
    }),
  ),
  extractPrice: Type.Optional(
    Type.Unsafe<ExtractPrice | null>({
      type: 'string',
      enum: [...EXTRACT_PRICES, null],
      nullable: true,
      description:
        'What a file of filtered rows costs: its share of the price of a download, rounded up (`share`), nothing (`free`), or that price (`whole`). Null: what the service says.',
    }),
  ),
}

const columnNote = Type.Object(
  {
    title: boundedText(200, 'Its name for people.'),
    description: boundedText(2000, 'What it holds.'),
    unit: boundedText(50, 'The unit of its values, such as `km`.'),
  },
  { additionalProperties: false },
)

const columnNotes = Type.Record(Type.String(), columnNote, {
  maxProperties: 1000,
  description: 'Titles, descriptions and units of columns, by column name. They replace all earlier ones.',
})

/** The body that changes a description. */
export const descriptionBody = Type.Object(
  {
    ...descriptionProperties,
    keywords: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 })),
    columns: Type.Optional(columnNotes),
  },
  { additionalProperties: false, minProperties: 1 },
)

export function descriptionOf({
  columns,
  ...description
}: Static<typeof descriptionBody>): DatasetDescription {
  return columns === undefined ? description : { ...description, columnNotes: withoutEmpty(columns) }
}

/** Validates notes on columns that do not come from a request. */
export function checkColumnNotes(columns: unknown): ColumnNotes {
  const [first] = Value.Errors(columnNotes, columns)
  if (first) throw invalidInput(`columns${first.instancePath}`, first.message)
  return withoutEmpty(columns as ColumnNotes)
}

/** The notes on columns without empty texts, and without columns that nothing is said about. */
function withoutEmpty(notes: ColumnNotes): ColumnNotes {
  const entries = Object.entries(notes).flatMap(([name, note]) => {
    const texts = Object.entries(note).filter(([, text]) => text !== '')
    return texts.length === 0 ? [] : [[name, Object.fromEntries(texts)] as const]
  })
  return Object.fromEntries(entries)
}
