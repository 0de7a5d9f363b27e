import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS } from '@wayleave/contract/export-formats'
import { CHANGES_FORMATS, type ChangesFormat } from '@wayleave/geodata/exports'
import { Type } from 'typebox'
import type { ProblemCode } from '../../base/problem.ts'
import { security, tags } from '../../http/openapi.ts'
import { noQuery } from '../../http/schemas.ts'

const DOWNLOAD_PROBLEMS: readonly ProblemCode[] = [
  'credits-exhausted',
  'price-higher',
  'add-on-missing',
  'export-impossible',
  'range-not-satisfiable',
  'build-failed',
  'export-not-ready',
  'data-damaged',
  'tiles-not-ready',
  'tiles-failed',
]

const MEDIA_TYPES = [...Object.values(EXPORT_FORMATS), ...Object.values(CHANGES_FORMATS)]

const file = {
  headers: {
    ETag: { description: 'Names these bytes.', schema: { type: 'string' } },
    'Credits-Charged': { description: 'What this download cost.', schema: { type: 'integer' } },
    'Credits-Remaining': { description: 'What the organization has left.', schema: { type: 'integer' } },
  },
  content: Object.fromEntries(
    MEDIA_TYPES.map(({ mediaType }) => [
      mediaType,
      // JSON is described as what it contains, all other formats as bytes.
      { schema: /[/+]json/.test(mediaType) ? {} : { type: 'string', format: 'binary' } },
    ]),
  ),
}
const DOWNLOAD_RESPONSES = {
  200: { description: 'The whole file.', ...file },
  206: { description: 'The bytes that `Range` asks for.', ...file },
  304: { description: 'The client’s copy is current.' },
  307: {
    description:
      'The file is at the signed address in `Location`, for some minutes. Only if the operator has chosen redirects; do not send the API key there.',
    headers: {
      Location: { description: 'The signed address.', schema: { type: 'string', format: 'uri' } },
      'Credits-Charged': file.headers['Credits-Charged'],
      'Credits-Remaining': file.headers['Credits-Remaining'],
    },
  },
}

const versionNumber = (description: string) => Type.Integer({ minimum: 1, maximum: 2 ** 48, description })

/** The schema of the route that responds with the changes between two versions. */
export const changesSchema = {
  tags: [tags.data],
  summary: 'Download the changes between two versions',
  description:
    'The features that were added, removed and changed, by id. A line of `ndjson` is `{"change", "id", "feature"}`, for a changed feature with `before`; the feature of a removed one is what it was. `geoparquet` has the columns of the later version after a column `change`. `places` is free: `{"counts", "added", "removed", "changed"}` with the centres of up to 4,000 features of each kind, to a hundredth of a degree, for a map; for the step from the version before, GIS_ACCESS is enough. The others cost the price of one download, however many versions are between the two; a key pays once for the changes to one version in one form within 24 hours. Needs ARCHIVED_DATA; API_ACCESS is enough for the changes to the current version if the organization has bought a file of the version `from`.',
  security: security.key,
  problems: [...DOWNLOAD_PROBLEMS, 'no-stable-ids', 'access-limited', 'permission-missing'] as const,
  documented: { responses: DOWNLOAD_RESPONSES },
  params: Type.Object({ table: Type.String() }),
  querystring: Type.Object(
    {
      from: versionNumber('The version that the caller has.'),
      to: Type.Optional(
        versionNumber('The version that the caller wants; the current one if it is left out.'),
      ),
      f: Type.Unsafe<ChangesFormat>({
        type: 'string',
        enum: Object.keys(CHANGES_FORMATS),
        default: 'ndjson',
        description: 'The form of the changes.',
      }),
      api_key: noQuery.properties.api_key,
    },
    { additionalProperties: false },
  ),
}

/** The schema of a route that responds with a file. */
export function downloadSchema(
  summary: string,
  description: string,
  params: Record<string, ReturnType<typeof Type.String>>,
) {
  return {
    tags: [tags.data],
    summary,
    description: `${description} A key pays once for one format of one version within 24 hours: further ranges and retries are free. HEAD, 304 and 416 cost nothing. No file is built for a key that cannot pay; until it exists, HEAD has no \`Content-Length\` and no \`ETag\`. Formats: ${EXPORT_FORMAT_NAMES.join(', ')}.`,
    security: security.key,
    problems: DOWNLOAD_PROBLEMS,
    documented: { responses: DOWNLOAD_RESPONSES },
    params: Type.Object(params),
    querystring: noQuery,
  }
}
