import { quoteText } from '../../quote-sql.ts'

/** How a language writes numbers or dates, if not as JSON and ISO 8601 do. */
export type Notation =
  | { kind: 'number'; group: NumberGroup; decimal: ',' | '.' }
  | { kind: 'date'; formats: string[] }

/** The separator between groups of three digits; a space may be a no-break one, an apostrophe a typographic one. */
export type NumberGroup = '' | '.' | ',' | ' ' | "'"

const GROUP_CLASS: { [group in NumberGroup]: string } = {
  '': '',
  '.': '[.]',
  ',': ',',
  ' ': '[ \u00a0\u202f]',
  "'": "['’]",
}

/** A regular expression that whole texts of a number notation match. */
export function numberPattern(group: NumberGroup, decimal: ',' | '.'): string {
  const grouped = group === '' ? '' : `[1-9]\\d{0,2}(${GROUP_CLASS[group]}\\d{3})+|`
  return `-?(${grouped}0|[1-9]\\d*)(${decimal === '.' ? '[.]' : ','}\\d+)?`
}

/** SQL for the number of groups after the first. */
export function groupCountSql(group: NumberGroup): string {
  return `len(regexp_extract_all(t, ${quoteText(`${GROUP_CLASS[group]}\\d{3}`)}))`
}

/** SQL for the typed value of a text. */
export function notationSql(text: string, notation: Notation, target: string): string {
  const nonEmpty = `nullif(${text}, '')`
  if (notation.kind === 'date')
    return `strptime(${nonEmpty}, [${notation.formats.map(quoteText).join(', ')}])::${target}`
  const { group, decimal } = notation
  const plain =
    group === '' ? nonEmpty : `regexp_replace(${nonEmpty}, ${quoteText(GROUP_CLASS[group])}, '', 'g')`
  return `${decimal === ',' ? `replace(${plain}, ',', '.')` : plain}::${target}`
}
