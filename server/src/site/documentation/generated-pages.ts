import { problems } from '../../base/problem.ts'
import type { Setting } from '../../base/settings/setting.ts'
import { settingGroups } from '../../base/settings/settings.ts'

/** The pages of docs/ that are generated from the program's own tables; `npm run docs` writes them. */
export const generatedPages: Record<string, () => string> = {
  'settings.md': settingsPage,
  'problems.md': problemsPage,
}

function settingsPage(): string {
  const sections = settingGroups.map(({ title, settings }) => `## ${title}\n\n${settingsTable(settings)}`)
  return `# Settings

A setting is given as a flag of \`wayleave serve\` (those with a flag: \`--port\`, \`--host\`, \`--data-dir\`), as a variable of the environment, or as a member of a settings file. Flags come first, then variables, then the file. The file is \`wayleave.json\` in the working folder, or the one that \`WAYLEAVE_CONFIG\` names:

\`\`\`json
{ "port": 8080, "baseUrl": "https://data.example.org", "admins": ["ada@example.org"] }
\`\`\`

A setting that cannot be used stops the start with one sentence that names it, and exit code 2. Lists are separated by commas in variables, and are arrays in the file.

${sections.join('\n\n')}
`
}

function settingsTable(settings: Record<string, Setting<unknown>>): string {
  const rows = Object.entries(settings).map(
    ([name, { variable, default: value, help }]) =>
      `| \`${variable}\` \`${name}\` | ${defaultText(value)} | ${cell(help)} |`,
  )
  return `| variable, name in the file | default | meaning |\n|---|---|---|\n${rows.join('\n')}`
}

function problemsPage(): string {
  const rows = Object.entries(problems)
    .sort(([, a], [, b]) => a[0] - b[0])
    .map(([code, [status, title, help]]) => `| \`${code}\` | ${status} | ${cell(title)} | ${cell(help)} |`)
  return `# Problems

Every error response is \`application/problem+json\` (RFC 9457):

\`\`\`json
{
  "type": "http://127.0.0.1:8080/problems/add-on-missing",
  "title": "Add-on missing",
  "status": 403,
  "detail": "The organization lacks the add-on API_ACCESS.",
  "instance": "/v1/dataset/parcels/files/csv",
  "code": "add-on-missing",
  "requestId": "5f0c3c0e-6b0f-4d0e-9c35-2f0f1f1f7b1a"
}
\`\`\`

\`code\` is stable: programs may rely on it. \`detail\` is a sentence for people. \`requestId\` is in the header \`X-Request-Id\` too, and in the log. Invalid input adds \`errors\`, a list of \`{path, message}\` that names every field or parameter. 402 and 403 responses include \`contact\` if the operator has set one. Outside \`/v1\`, and on the pages below \`/v1/ogc\`, a browser is shown the same as a page: with the request, what is wrong in it, and a command that repeats it, without secrets.

A JSON body may have 64 KB, and 16 KB for signing in and invitations; 256 KB for searches, aggregates, descriptions, sources and events of payments; and 1 KB for each column of \`WAYLEAVE_MAX_COLUMNS\` for schemas (1 MB unless that is set, and 256 KB to 4 MB). It may be nested 32 levels deep, and have one value for each 64 bytes of its limit: 1,000 in 64 KB. Searches, aggregates and schemas have [limits of their own](ogc.md). A URL may have 500 parameters, on every address, and the form of an upload one part for the file and for each option.

| code | status | title | meaning |
|---|---|---|---|
${rows.join('\n')}
`
}

function defaultText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '–'
  return `\`${Array.isArray(value) ? value.join(',') : String(value)}\``
}

/** Escapes `|`, which would end the table cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
