import { readFileSync } from 'node:fs'
import { EXTRACT_PRICES, type ExtractPrice } from '@wayleave/contract/extract-prices'
import { UPDATE_FREQUENCIES, type UpdateFrequency } from '@wayleave/contract/update-frequencies'
import { VISIBILITIES, type Visibility } from '@wayleave/contract/visibilities'
import { type Command, InvalidArgumentError } from 'commander'
import type { DatasetDescription } from '../../data/catalog/dataset.ts'
import { splitKeywords } from '../../data/publishing/split-keywords.ts'

/** The flags that describe a dataset, of `publish` and of `describe`. */
export interface DescriptionFlags {
  title?: string
  description?: string
  license?: string
  attribution?: string
  contact?: string
  citation?: string
  updateFrequency?: UpdateFrequency
  keywords?: string
  credits?: number
  extractPrice?: ExtractPrice
  visibility?: Visibility
  /** The path of a JSON file. */
  columns?: string
}

export function withDescriptionFlags(command: Command): Command {
  return command
    .option('--title <text>', 'its name for people')
    .option('--description <text>', 'what it holds, in Markdown')
    .option('--license <text>', 'its license: an SPDX identifier such as CC-BY-4.0, an address or a name')
    .option('--attribution <text>', 'whom users must name')
    .option('--contact <text>', 'who knows more about it: a mail address, an address or a name')
    .option('--citation <text>', 'how to cite it')
    .option(
      '--update-frequency <word>',
      `how often it is updated: ${UPDATE_FREQUENCIES.filter(Boolean).join(', ')}`,
      frequency,
    )
    .option('--keywords <words>', 'separated by commas')
    .option('--credits <n>', 'what one download costs (default 1 for a new dataset)', price)
    .option(
      '--extract-price <word>',
      `what files of filtered rows cost: ${EXTRACT_PRICES.join(', ')}`,
      extractPrice,
    )
    .option('--visibility <word>', `who sees it: ${VISIBILITIES.join(', ')}`, visibility)
    .option(
      '--columns <file>',
      'a JSON file with titles, descriptions and units: {"depth": {"title": "Depth", "unit": "km"}}',
    )
}

export async function descriptionOfFlags(flags: DescriptionFlags): Promise<DatasetDescription> {
  const { title, description, license, attribution, contact, citation, updateFrequency } = flags
  const { credits, extractPrice, visibility } = flags
  const keywords = flags.keywords === undefined ? undefined : splitKeywords(flags.keywords)
  const columnNotes = flags.columns === undefined ? undefined : await readColumnNotes(flags.columns)
  return {
    ...{ title, description, license, attribution, contact, citation, updateFrequency, credits },
    ...{ extractPrice, visibility, keywords, columnNotes },
  }
}

function frequency(text: string): UpdateFrequency {
  const match = UPDATE_FREQUENCIES.find((one) => one === text)
  if (match !== undefined) return match
  throw new InvalidArgumentError(`It is one of ${UPDATE_FREQUENCIES.filter(Boolean).join(', ')}.`)
}

function extractPrice(text: string): ExtractPrice {
  const match = EXTRACT_PRICES.find((one) => one === text)
  if (match !== undefined) return match
  throw new InvalidArgumentError(`It is one of ${EXTRACT_PRICES.join(', ')}.`)
}

function visibility(text: string): Visibility {
  const match = VISIBILITIES.find((one) => one === text)
  if (match !== undefined) return match
  throw new InvalidArgumentError(`It is one of ${VISIBILITIES.join(', ')}.`)
}

/** Reads the notes on columns; they are validated like the body of a request. */
async function readColumnNotes(path: string): Promise<DatasetDescription['columnNotes']> {
  let columns: unknown
  try {
    columns = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error })
  }
  const { checkColumnNotes } = await import('../../data/publishing/description-schema.ts')
  return checkColumnNotes(columns)
}

export function price(text: string): number {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  if (!(value <= 1_000_000)) throw new InvalidArgumentError('A price is a whole number from 0 to 1000000.')
  return value
}
