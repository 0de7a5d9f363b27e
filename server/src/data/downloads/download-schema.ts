import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS } from '@wayleave/contract/export-formats'
import { Type } from 'typebox'
import type { ProblemCode } from '../../base/problem.ts'
import { security, tags } from '../../http/openapi.ts'
import { noQuery } from '../../http/schemas.ts'

const DOWNLOAD_PROBLEMS: readonly ProblemCode[] = [
  'credits-exhausted',
  'add-on-missing',
  'export-impossible',
  'range-not-satisfiable',
  'build-failed',
  'export-not-ready',
  'data-damaged',
  'tiles-not-ready',
  'tiles-failed',
]

const file = {
  headers: {
    ETag: { description: 'Names these bytes.', schema: { type: 'string' } },
    'Credits-Charged': { description: 'What this download cost.', schema: { type: 'integer' } },
    'Credits-Remaining': { description: 'What the organization has left.', schema: { type: 'integer' } },
  },
  content: Object.fromEntries(
    Object.values(EXPORT_FORMATS).map(({ mediaType }) => [
      mediaType,
      // JSON is described as what it contains, all other formats as bytes.
      { schema: mediaType.includes('json') ? {} : { type: 'string', format: 'binary' } },
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
