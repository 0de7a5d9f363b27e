import { PositionRuns, type Snapshot } from '@wayleave/geodata/features'
import { Type } from 'typebox'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import type { OpenSnapshots } from '../catalog/open-snapshots.ts'
import { type Publishers, tableOf } from './publishers.ts'
import type { Versions } from './versions.ts'

interface DraftItemsDeps {
  versions: Versions
  snapshots: OpenSnapshots
}

const MAX_FEATURES = 1000
/** A page ends before its features exceed this, unless it has one only. */
const MAX_BYTES = 8 << 20
const MAX_ROWS = 2_000_000_000

const count = (minimum: number, maximum: number, value: number, description: string) =>
  Type.Integer({ minimum, maximum, default: value, description })

/** The features of a draft, for those who decide on its release. */
export function draftItemsRoute(
  app: App,
  { versions, snapshots }: DraftItemsDeps,
  publishers: Publishers,
): void {
  app.get('/v1/dataset/:table/draft/items', {
    schema: {
      tags: [tags.publishing],
      security: [...security.key, ...security.token],
      problems: ['not-administrator', 'data-damaged'],
      summary: 'The features of the version that waits for its release',
      description:
        'As GeoJSON, for its publishers, free of charge. 404 if there is no draft. A page may have fewer features than `limit` if they are large.',
      params: Type.Object({ table: Type.String() }),
      querystring: Type.Object(
        {
          limit: count(1, MAX_FEATURES, 20, 'Max features of the page.'),
          offset: count(0, MAX_ROWS, 0, 'The position of the first one.'),
          step: count(1, MAX_ROWS, 1, 'Take every nth feature, for an overview of all.'),
        },
        { additionalProperties: false },
      ),
      documented: {
        responses: {
          200: {
            description: 'A page of features.',
            content: { 'application/geo+json': { schema: { type: 'object' } } },
          },
        },
      },
    },
    onRequest: publishers.ofDataset,
    handler: async (request, reply) => {
      const draft = await versions.draft(tableOf(request))
      const { rows } = draft.manifest
      const { limit, offset, step } = request.query
      const length = Math.max(0, Math.min(limit, Math.ceil((rows - offset) / step)))
      const positions = Uint32Array.from({ length }, (_, i) => offset + i * step)
      const page = await snapshots.use(draft, (snapshot) => readPage(snapshot, positions))
      const body = `{"type":"FeatureCollection","numberMatched":${rows},"numberReturned":${page.features},"features":[${page.text}]}`
      return reply.type('application/geo+json').header('cache-control', 'no-store').send(body)
    },
  })
}

async function readPage(
  snapshot: Snapshot,
  positions: Uint32Array,
): Promise<{ features: number; text: string }> {
  let features = positions.length
  let runs = PositionRuns.of(positions)
  while (features > 1 && (await snapshot.bytesOf(runs)) > MAX_BYTES) {
    features = Math.ceil(features / 2)
    runs = PositionRuns.of(positions.subarray(0, features))
  }
  return { features, text: Buffer.concat(await snapshot.readRuns(runs)).toString('utf8') }
}
