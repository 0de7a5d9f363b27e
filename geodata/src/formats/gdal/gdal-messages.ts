import { SourceError } from '../../source-error.ts'

/** Messages after which values are not those of the file: the file is refused. */
const TEXT_IS_LOST = /not a valid UTF-8 string|couldn't be converted correctly|not valid UTF-8/i
const VALUES_ARE_LOST =
  /overflow|parsed incompletely|wrong field type|has been truncated|clamped|out of range|cannot be represented|could not be converted/i
/** Lists become texts in GeoPackage, and are made lists again after that. */
export const LIST_FIELD = /does not natively support \w+List type for field (.+?)\. Misconversion/
/** What GDAL also says about good files. Our reader takes every type of geometry in a layer. */
const HARMLESS =
  /^PROJ: |not normally allowed by the GeoPackage specification|No more will be reported|Feature id not preserved/

export interface GdalMessages {
  notes: string[]
  /** The columns that are lists in the source. */
  listColumns: Set<string>
}

const MAX_NOTES = 5

/**
 * Sorts what GDAL wrote to its standard error although it succeeded. Throws if it means that values were changed
 * or lost. Unknown messages become notes.
 */
export function sortMessages(messages: string[], file: string, encodingAdvice: string): GdalMessages {
  const listColumns = new Set<string>()
  const notes: string[] = []
  for (const message of messages) {
    const list = LIST_FIELD.exec(message)?.[1]
    if (list !== undefined) listColumns.add(list)
    else if (TEXT_IS_LOST.test(message))
      throw new SourceError(
        `${file} has text that cannot be decoded: ${withoutPeriod(message)}. ${encodingAdvice}`,
      )
    else if (VALUES_ARE_LOST.test(message))
      throw new SourceError(
        `GDAL cannot read all values of ${file} as they are: ${withoutPeriod(message)}. Convert the file to GeoPackage, and check these values there.`,
      )
    else if (!HARMLESS.test(message) && notes.length < MAX_NOTES)
      notes.push(`GDAL reported: ${withoutPeriod(message)}.`)
  }
  return { notes, listColumns }
}

function withoutPeriod(message: string): string {
  return message.replace(/[.\s]+$/, '')
}
