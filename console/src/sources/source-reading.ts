import type { SourceRecord } from '@wayleave/contract/records'
import { noReadingChoices, type ReadingChoices } from '../administration/reading-choices.ts'

type Options = SourceRecord['options']

const TEXTS = [
  'layer',
  'crs',
  'idColumn',
  'timeColumn',
  'encoding',
  'longitude',
  'latitude',
  'geometryColumn',
  'format',
] as const
const LINES = ['skipLines', 'headerLines'] as const

/** The fields of the form for the stored options of a source. */
export function readingOfOptions(options: Options): ReadingChoices {
  const texts = [...TEXTS, ...LINES].map((name) => [name, String(options[name] ?? '')])
  const types = Object.entries((options['types'] ?? {}) as Record<string, string>)
  return {
    ...noReadingChoices,
    ...Object.fromEntries(texts),
    types: types.map(([column, type]) => `${column}=${type}`).join(', '),
    isTable: options['geometry'] === false,
    skipInvalid: options['skipInvalid'] === true,
    allowInaccurateCrs: options['allowInaccurateCrs'] === true,
  }
}

/** The options of a source; those that are empty are not sent. */
export function optionsOfReading({ types, ...reading }: ReadingChoices): Options {
  const pairs = types.split(',').filter((pair) => pair.trim() !== '')
  const typed = pairs.map((pair) => {
    const at = pair.lastIndexOf('=')
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
  return {
    ...Object.fromEntries(TEXTS.map((name) => [name, reading[name].trim()])),
    ...Object.fromEntries(LINES.map((name) => [name, reading[name] === '' ? '' : Number(reading[name])])),
    types: typed.length === 0 ? '' : Object.fromEntries(typed),
    geometry: reading.isTable ? false : '',
    skipInvalid: reading.skipInvalid || '',
    allowInaccurateCrs: reading.allowInaccurateCrs || '',
  }
}
