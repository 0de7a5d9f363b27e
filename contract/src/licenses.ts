/** Licences that are common for data, by their identifier in the SPDX list. */
export const LICENSES = {
  'CC0-1.0': 'Creative Commons Zero 1.0',
  'CC-BY-4.0': 'Creative Commons Attribution 4.0',
  'CC-BY-3.0': 'Creative Commons Attribution 3.0',
  'CC-BY-SA-4.0': 'Creative Commons Attribution ShareAlike 4.0',
  'CC-BY-ND-4.0': 'Creative Commons Attribution NoDerivatives 4.0',
  'CC-BY-NC-4.0': 'Creative Commons Attribution NonCommercial 4.0',
  'CC-BY-NC-SA-4.0': 'Creative Commons Attribution NonCommercial ShareAlike 4.0',
  'CC-BY-NC-ND-4.0': 'Creative Commons Attribution NonCommercial NoDerivatives 4.0',
  'CDLA-Permissive-2.0': 'Community Data License Agreement, Permissive 2.0',
  'CDLA-Permissive-1.0': 'Community Data License Agreement, Permissive 1.0',
  'CDLA-Sharing-1.0': 'Community Data License Agreement, Sharing 1.0',
  'ODbL-1.0': 'Open Data Commons Open Database License 1.0',
  'ODC-By-1.0': 'Open Data Commons Attribution License 1.0',
  'PDDL-1.0': 'Open Data Commons Public Domain Dedication 1.0',
  'DL-DE-BY-2.0': 'Data licence Germany, attribution 2.0',
  'DL-DE-ZERO-2.0': 'Data licence Germany, zero 2.0',
  'etalab-2.0': 'Etalab Open License 2.0',
  'NLOD-2.0': 'Norwegian Licence for Open Government Data 2.0',
  'OGL-UK-3.0': 'Open Government Licence, United Kingdom 3.0',
  'OGL-Canada-2.0': 'Open Government Licence, Canada 2.0',
  'Apache-2.0': 'Apache License 2.0',
  MIT: 'MIT License',
} as const

/** Names that publishers use, and the identifiers they mean. */
const OTHER_NAMES: { [name: string]: keyof typeof LICENSES } = {
  CC0: 'CC0-1.0',
  'CC BY': 'CC-BY-4.0',
  'CC-BY': 'CC-BY-4.0',
  'CC BY 4.0': 'CC-BY-4.0',
  'CC BY-SA 4.0': 'CC-BY-SA-4.0',
  'CC BY-NC 4.0': 'CC-BY-NC-4.0',
  ODbL: 'ODbL-1.0',
  'ODC-BY': 'ODC-By-1.0',
  PDDL: 'PDDL-1.0',
  'OGL-UK': 'OGL-UK-3.0',
}
const SPDX_ID = /^(CC|CDLA|ODbL|ODC|PDDL|OGL|NLOD|etalab|DL-DE)[\w.+-]*-\d[\w.]*$/i

/** The URL of a licence that a publisher names by its URL, its SPDX identifier or its usual name. */
export function licenseLink(license: string): string | null {
  const name = license.trim()
  if (/^https?:\/\/\S+$/.test(name)) return name
  const id = spdxId(name)
  return id === null ? null : `https://spdx.org/licenses/${id}.html`
}

/** The SPDX identifier of a licence that a publisher names by it, or by its usual name. */
export function spdxId(license: string): string | null {
  const name = license.trim()
  if (Object.hasOwn(OTHER_NAMES, name)) return OTHER_NAMES[name]!
  return Object.hasOwn(LICENSES, name) || SPDX_ID.test(name) ? name : null
}

/** The full name of a licence that is named by its SPDX identifier or its usual name; else the name as it is. */
export function licenseName(license: string): string {
  const name = license.trim()
  const id = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name]! : name
  return Object.hasOwn(LICENSES, id) ? LICENSES[id as keyof typeof LICENSES] : license
}
