/** Names that publishers use for licences, and their identifiers in the SPDX list. */
const SPDX_NAMES: { [name: string]: string } = {
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
const SPDX_ID = /^(CC|CDLA|ODbL|ODC|PDDL|OGL|etalab|DL-DE)[\w.+-]*-\d[\w.]*$/i

/** The URL of a licence that a publisher names by its URL, its SPDX identifier or its usual name. */
export function licenseLink(license: string): string | null {
  const name = license.trim()
  if (/^https?:\/\/\S+$/.test(name)) return name
  const id = SPDX_NAMES[name] ?? (SPDX_ID.test(name) ? name : undefined)
  return id === undefined ? null : `https://spdx.org/licenses/${id}.html`
}
