import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS } from '../src/export-formats.ts'
import {
  archiveSchema,
  columnSchema,
  datasetOwnerSchema,
  datasetSchema,
  fieldErrorSchema,
  idColumnSchema,
  offeredFormatSchema,
  problemSchema,
  tilesSchema,
  versionChangesSchema,
} from '../src/records.ts'
import { typeText, unionText } from './type-text.ts'

const ORIGIN = 'Made from contract/ by `npm run contract`; do not edit.'

/**
 * The files of the clients that are made from the contract, by their path in the repository. The clients are published
 * on their own, so they get a copy instead of a dependency.
 */
export const clientFiles: Record<string, () => string> = {
  'client-js/src/contract.ts': javascriptTypes,
  'client-python/src/wayleave/_contract.py': pythonLists,
}

function javascriptTypes(): string {
  const records = typeText({
    Column: { schema: columnSchema, description: 'A column of a dataset.' },
    IdColumn: { schema: idColumnSchema, description: 'The column of the features’ ids.' },
    Format: { schema: offeredFormatSchema, description: 'A format that a version can be downloaded in.' },
    Tiles: { schema: tilesSchema, description: 'How far the vector tiles of a dataset are.' },
    Owner: { schema: datasetOwnerSchema, description: 'The organization that publishes a dataset.' },
    Dataset: { schema: datasetSchema, description: 'The public metadata of a dataset.' },
    VersionChanges: {
      schema: versionChangesSchema,
      description: 'How many features differ from the version before.',
    },
    Archive: { schema: archiveSchema, description: 'One version of a dataset.' },
    FieldError: { schema: fieldErrorSchema, description: 'One wrong value of a request.' },
    ProblemBody: { schema: problemSchema, description: 'The body of an error (RFC 9457).' },
  })
  const formats = unionText('ExportFormat', EXPORT_FORMAT_NAMES)
  return `// ${ORIGIN}\n\n${records}\n/** The download formats that this version of the client knows. */\n${formats}`
}

function pythonLists(): string {
  const extensions = EXPORT_FORMAT_NAMES.map((name) => `    "${name}": "${EXPORT_FORMATS[name].extension}",`)
  const compressed = EXPORT_FORMAT_NAMES.filter((name) => EXPORT_FORMATS[name].isCompressed)
  return `"""Lists that the client shares with the service. ${ORIGIN}"""

from __future__ import annotations

EXTENSIONS = {
${extensions.join('\n')}
}
"""The extension of a file, by its download format."""

COMPRESSED_FORMATS = frozenset(
    {
${compressed.map((name) => `        "${name}",`).join('\n')}
    }
)
"""The formats whose files are already compressed: a compressed transfer would not save anything."""
`
}
