/**
 * Case and accent folding in JavaScript and in SQL, with equal results for every character (a test compares
 * all of them). Both map character by character, so results that are equal for characters are equal for
 * texts.
 */
import type { Fold } from '../ast.ts'

// Characters that got a case mapping in Unicode 15.1 to 17. DuckDB's tables are older, so they have none
// here.
const NEWER =
  /[\u{1c89}\u{a7cb}-\u{a7cf}\u{a7d2}\u{a7d4}\u{a7da}\u{a7dc}\u{10d50}-\u{10d65}\u{16ea0}-\u{16eb8}]/u

/** Characters whose full case folding differs from their lower case: ß and ss, ς and σ, ligatures. */
function specialCharacters(): Map<string, string> {
  const special = new Map<string, string>()
  for (const [first, last] of [
    [0xb5, 0x587],
    [0x1c80, 0x1c88],
    [0x1e96, 0x1e9e],
    [0x1f50, 0x1ffc],
    [0xfb00, 0xfb17],
  ] as const) {
    for (let code = first; code <= last; code++) {
      const character = String.fromCodePoint(code)
      const folded = fullFold(character)
      // DuckDB's lower case of İ lacks the dot above that JavaScript's has.
      if (folded !== character.toLowerCase() || character === 'İ') special.set(character, folded)
    }
  }
  return special
}

/**
 * Converts to upper case and back, each letter by itself, because Σ at the end of a word has another lower
 * case.
 */
function fullFold(character: string): string {
  // The dotless i is a separate letter, although its upper case is I.
  if (character === 'ı') return character
  return Array.from(character.toLowerCase().toUpperCase(), (letter) => letter.toLowerCase()).join('')
}

/**
 * The combining marks that count as accents: those of the Latin, Greek and Cyrillic scripts, Hebrew points
 * and Arabic vowel signs. Readers consider the vowel signs of Indic scripts and the voicing marks of kana to
 * be letters.
 */
const ACCENT =
  '\\u{300}-\\u{36f}\\u{483}-\\u{487}\\u{591}-\\u{5bd}\\u{5bf}\\u{5c1}\\u{5c2}\\u{5c4}\\u{5c5}\\u{5c7}\\u{64b}-\\u{65f}' +
  '\\u{670}\\u{1ab0}-\\u{1ace}\\u{1dc0}-\\u{1dff}\\u{20d0}-\\u{20f0}\\u{fe20}-\\u{fe2f}'
const ACCENTS = new RegExp(`[${ACCENT}]`, 'gu')

function unaccentedCharacters(): Map<string, string> {
  const unaccented = new Map<string, string>()
  for (const [first, last] of [
    [0xc0, 0x6d5],
    [0x1ab0, 0x20f0],
    [0x2126, 0x2adc],
    [0xfb1d, 0xfe2f],
  ] as const) {
    for (let code = first; code <= last; code++) {
      const character = String.fromCodePoint(code)
      const decomposed = character.normalize('NFD')
      const stripped = decomposed.replace(ACCENTS, '')
      if (stripped !== decomposed) unaccented.set(character, stripped.normalize('NFC'))
    }
  }
  return unaccented
}

const ASCII = /^\p{ASCII}*$/u

interface FoldTables {
  special: ReadonlyMap<string, string>
  /** Characters that are replaced before the text as a whole is converted to lower case. */
  replaced: ReadonlyMap<string, string>
  replacedCharacters: RegExp
  unaccented: ReadonlyMap<string, string>
  unaccentedCharacters: RegExp
}

let madeTables: FoldTables | undefined

/** Made for the first text that is not ASCII: thousands of characters are normalized, for which no start should wait. */
function foldTables(): FoldTables {
  if (madeTables === undefined) {
    const special = specialCharacters()
    const replaced = new Map([...special, ['Σ', 'σ']])
    const unaccented = unaccentedCharacters()
    const anyOf = (characters: ReadonlyMap<string, string>) =>
      new RegExp(`[${[...characters.keys()].join('')}]`, 'gu')
    madeTables = {
      special,
      replaced,
      replacedCharacters: anyOf(replaced),
      unaccented,
      unaccentedCharacters: anyOf(unaccented),
    }
  }
  return madeTables
}

/**
 * Texts are folded as a whole, which takes a tenth of the time of folding each character. At the end of a word
 * Σ has another lower case, so it is replaced first; no other lower case depends on the neighbours.
 */
export function foldText(fold: Fold, text: string): string {
  if (ASCII.test(text)) return fold === 'casei' ? text.toLowerCase() : text
  const { replaced, replacedCharacters, unaccented, unaccentedCharacters } = foldTables()
  if (fold === 'accenti') return text.replace(unaccentedCharacters, (character) => unaccented.get(character)!)
  if (NEWER.test(text)) return Array.from(text, foldCase).join('')
  return text.replace(replacedCharacters, (character) => replaced.get(character)!).toLowerCase()
}

function foldCase(character: string): string {
  return foldTables().replaced.get(character) ?? (NEWER.test(character) ? character : character.toLowerCase())
}

/**
 * SQL for the same folding. ASCII texts and texts of common characters are folded as a whole; only the others
 * are split into characters. The argument is repeated in the SQL, so an argument that is not a plain
 * column or parameter is bound to a name first.
 */
export function foldSql(fold: Fold, argument: string): string {
  if (!/^("([^"]|"")*"|\$\d+)$/.test(argument)) {
    return `list_extract(list_transform([${argument}], lambda folded: ${foldSql(fold, '"folded"')}), 1)`
  }
  const isAscii = `strlen(${argument}) = length(${argument})`
  const { special, unaccented } = foldTables()
  if (fold === 'accenti') {
    const accentClass = characterClass(unaccented.keys())
    const branch = `WHEN regexp_matches(letter, ${accentClass}) THEN strip_accents(letter)`
    return (
      `CASE WHEN ${isAscii} OR NOT regexp_matches(${argument}, ${accentClass}) THEN ${argument} ` +
      `WHEN NOT regexp_matches(${argument}, ${NOT_STRIPPED_ALIKE}) THEN strip_accents(${argument}) ` +
      `ELSE ${byCharacter(argument, branch, 'letter')} END`
    )
  }
  const replaced = COMMON.reduce(
    (sql, from) => `replace(${sql}, '${from}', '${special.get(from)}')`,
    argument,
  )
  const specialClass = characterClass(special.keys().filter((character) => !COMMON.includes(character)))
  const cases = Array.from(special, ([from, to]) => `WHEN '${from}' THEN '${to}'`).join(' ')
  const branch = `WHEN regexp_matches(letter, ${specialClass}) THEN CASE letter ${cases} END`
  return (
    `CASE WHEN ${isAscii} THEN lower(${argument}) ` +
    `WHEN NOT regexp_matches(${argument}, ${specialClass}) THEN lower(${replaced}) ` +
    `ELSE ${byCharacter(replaced, branch, 'lower(letter)')} END`
  )
}

// These are frequent in German, Greek and Turkish: splitting such texts into characters would cost ten times
// as much.
const COMMON = ['ß', 'ς', 'İ']
/**
 * The characters of most texts: `strip_accents` changes only those that count as accented here. All
 * others, such as Indic vowel signs, kana, Hangul jamo and compatibility ideographs, need each character to be
 * folded by itself, which takes ten times as long.
 */
const STRIPPED_ALIKE =
  '\\x00-\\x{373}\\x{388}-\\x{482}\\x{48a}-\\x{60f}\\x{61b}-\\x{6d5}\\x{1e00}-\\x{1fbd}\\x{2002}-\\x{2125}' +
  '\\x{2190}-\\x{2328}\\x{3000}-\\x{3029}\\x{4e00}-\\x{9fff}\\x{ac00}-\\x{d7a3}'
const NOT_STRIPPED_ALIKE = `'[^${STRIPPED_ALIKE}]'`

function byCharacter(argument: string, branches: string, otherwise: string): string {
  return `array_to_string(list_transform(string_split(${argument}, ''), lambda letter: CASE ${branches} ELSE ${otherwise} END), '')`
}

/** An RE2 character class, with consecutive characters as ranges, as an SQL literal. */
function characterClass(characters: Iterable<string>): string {
  const codes = Array.from(characters, (character) => character.codePointAt(0)!).sort((a, b) => a - b)
  const ranges: [number, number][] = []
  for (const code of codes) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === code - 1) last[1] = code
    else ranges.push([code, code])
  }
  const hex = (code: number) => `\\x{${code.toString(16)}}`
  return `'[${ranges.map(([first, last]) => (first === last ? hex(first) : `${hex(first)}-${hex(last)}`)).join('')}]'`
}
