import type { ReadingChoices } from '../administration/reading-choices.ts'
import type { VersionChoices } from './version-fields.tsx'

/** What the form changes before it publishes again. */
export interface FormChange {
  reading?: Partial<ReadingChoices>
  version?: Partial<VersionChoices>
}

/** A way out of a failure: a button, or a field with a button. */
export type Fix =
  | { kind: 'button'; label: string; change: FormChange }
  | {
      kind: 'choice'
      label: string
      field: 'layer' | 'encoding' | 'crs'
      options: readonly string[]
      isFree: boolean
    }

/** Encodings of files that do not state theirs, the most frequent first. */
const ENCODINGS = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'iso-8859-2',
  'gb18030',
  'big5',
  'shift_jis',
  'euc-kr',
]

const CRS = ['EPSG:4326', 'EPSG:3857', 'EPSG:25832', 'EPSG:32633', 'EPSG:27700', 'EPSG:2056']

/** The ways out of what the messages of a failed job complain about. `validRows` is null if it is not known. */
export function fixesOf(messages: readonly string[], badRows: number, validRows: number | null): Fix[] {
  const text = messages.join('\n')
  const fixes = [...choices(text), ...buttons(text)]
  if (badRows === 0) return fixes
  const rows =
    validRows === null
      ? 'the valid rows'
      : `the ${validRows.toLocaleString('en')} valid ${validRows === 1 ? 'row' : 'rows'}`
  return [...fixes, button(`Publish ${rows}`, { reading: { skipInvalid: true } })]
}

function choices(text: string): Fix[] {
  const layers = /has (?:\d+ layers: |no layer .*; it has )(.+?)\.(?: Choose one with --layer\.)?$/m.exec(
    text,
  )?.[1]
  const fixes: Fix[] = []
  if (layers)
    fixes.push({ kind: 'choice', label: 'Layer', field: 'layer', options: layers.split(', '), isFree: false })
  if (text.includes('--encoding'))
    fixes.push({ kind: 'choice', label: 'Encoding', field: 'encoding', options: ENCODINGS, isFree: true })
  const named = /--crs (EPSG:\d+|urn:\S+[^.\s])/.exec(text)?.[1]
  if (/--crs\b/.test(text))
    fixes.push({
      kind: 'choice',
      label: 'CRS',
      field: 'crs',
      options: [...new Set([...(named ? [named] : []), ...CRS])],
      isFree: true,
    })
  return fixes
}

const button = (label: string, change: FormChange): Fix => ({ kind: 'button', label, change })

function buttons(text: string): Fix[] {
  const fixes: Fix[] = []
  const lonLat = /--longitude (.+?) --latitude (.+?)\.$/m.exec(text)
  if (lonLat) {
    const [, longitude = '', latitude = ''] = lonLat
    fixes.push(
      button(`Use ${longitude} and ${latitude} as coordinates`, { reading: { longitude, latitude } }),
    )
  }
  const typed = /--type (.+?)=([a-z]+)/.exec(text)
  if (typed)
    fixes.push(button(`Read ${typed[1]} as ${typed[2]}`, { reading: { types: `${typed[1]}=${typed[2]}` } }))
  const skipped = /--skip-lines (\d+)/.exec(text)?.[1]
  if (skipped)
    fixes.push(
      button(skipped === '1' ? 'Leave out the first line' : `Leave out the first ${skipped} lines`, {
        reading: { skipLines: skipped },
      }),
    )
  if (/--format csv/.test(text))
    fixes.push(button('Read it as a table of one column', { reading: { format: 'csv' } }))
  if (/--no-geometry/.test(text))
    fixes.push(button('Publish it as a table without geometry', { reading: { isTable: true } }))
  if (/--allow-inaccurate-crs/.test(text))
    fixes.push(button('Accept the inaccuracy', { reading: { allowInaccurateCrs: true } }))
  if (/--ignore-schema/.test(text))
    fixes.push(button('Publish although it differs from the schema', { version: { ignoreSchema: true } }))
  if (/--update\b/.test(text)) fixes.push(button('Replace these features', { version: { mode: 'update' } }))
  return fixes
}
