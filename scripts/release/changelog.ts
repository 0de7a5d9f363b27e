export interface ChangelogSection {
  /** Null for the section of unreleased changes. */
  version: string | null
  /** The day of the release, in ISO 8601. */
  date: string | null
  body: string
}

/** The sections of CHANGELOG.md in their order: `## Unreleased` first, then `## 0.2.0 (2026-12-01)` and older ones. */
export function readChangelog(text: string): ChangelogSection[] {
  const [, ...parts] = text.split(/^## /m)
  const sections = parts.map((part) => {
    const end = part.indexOf('\n')
    const heading = part.slice(0, end)
    const body = part.slice(end).trim()
    if (heading === 'Unreleased') return { version: null, date: null, body }
    const [, version, date] = /^(\d+\.\d+\.\d+\S*) \((\d{4}-\d{2}-\d{2})\)$/.exec(heading) ?? []
    if (version === undefined || date === undefined) {
      throw new Error(`CHANGELOG.md: "## ${heading}" must be "## Unreleased" or "## 1.2.3 (2026-01-31)".`)
    }
    return { version, date, body }
  })
  if (sections[0]?.version !== null) throw new Error('CHANGELOG.md must begin with "## Unreleased".')
  const dates = sections.slice(1).map(({ date }) => date!)
  if (dates.some((date, i) => i > 0 && date > dates[i - 1]!)) {
    throw new Error('CHANGELOG.md must have the newest version first.')
  }
  return sections
}

/** Moves the unreleased changes to a new section of this version and day. */
export function dateChangelog(text: string, version: string, date: string): string {
  const [unreleased] = readChangelog(text)
  if (!unreleased?.body) throw new Error('CHANGELOG.md has no unreleased changes.')
  return text.replace(/^## Unreleased\n/m, `## Unreleased\n\n## ${version} (${date})\n`)
}

/** Throws unless the version has a section and everything that is listed belongs to a version. */
export function requireReleased(text: string, version: string): void {
  const [unreleased, newest] = readChangelog(text)
  if (newest?.version !== version || !newest.body) {
    throw new Error(
      `CHANGELOG.md has no section for ${version}: npm run release -- --set ${version} makes one.`,
    )
  }
  if (unreleased?.body) {
    throw new Error('CHANGELOG.md lists unreleased changes: set a new version, or move them to its section.')
  }
}
