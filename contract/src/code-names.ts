import { ADD_ON_NAMES } from './add-ons.ts'
import { MEMBER_PERMISSION_NAMES } from './permissions.ts'

/** What people call the add-ons and the permissions of members, by their codes. */
export const CODE_NAMES: Readonly<Record<string, string>> = { ...ADD_ON_NAMES, ...MEMBER_PERMISSION_NAMES }

const CODES = new RegExp(`\\b(?:${Object.keys(CODE_NAMES).join('|')})\\b`, 'g')

/** A sentence of the API as people read it: “Maps and GIS” instead of `GIS_ACCESS`. */
export function withCodeNames(sentence: string): string {
  return sentence.replace(CODES, (code) => `“${CODE_NAMES[code]}”`)
}
