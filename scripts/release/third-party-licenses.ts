import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installedPackages } from './locked-packages.ts'

const LICENSE_FILE = /^(licen[cs]e|copying|notice|third[-_ ]?party)/i

/** The licenses of all packages that the program contains, as text: each package with the files that state its terms. */
export function thirdPartyLicenses(root: string): string {
  const sections = installedPackages(root).map(({ name, version, license, path }) => {
    const folder = join(root, path)
    const files = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && LICENSE_FILE.test(entry.name))
      .map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim())
    const terms = files.length > 0 ? files.join('\n\n') : `Licensed under ${license}; it has no license file.`
    return `${'='.repeat(80)}\n${name} ${version} (${license})\n${'='.repeat(80)}\n\n${terms}\n`
  })
  return `The program contains these packages, or is built with them.\n\n${sections.join('\n')}`
}
