import type { Dimension, Named } from '@wayleave/query'
import { requireRead } from '../../accounts/access/dataset-access.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import { invalidInput } from '../../base/problem.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import type { ItemsDeps } from '../items/items-page.ts'
import type { RequestedDimension } from './aggregate-parts.ts'

/** Columns that usually name a feature. */
const LABELS = ['name', 'title', 'label']

/** The zones of `within(<table>)`. The caller must be allowed to read both datasets. */
export async function zonesOf(
  grant: Grant,
  { name, table, label }: Extract<RequestedDimension, { kind: 'within' }>,
  { catalog, snapshots, clock }: Pick<ItemsDeps, 'catalog' | 'snapshots' | 'clock'>,
): Promise<Named<Extract<Dimension, { kind: 'within' }>>> {
  const dataset = await catalog.findFor(grant, table)
  requireRead(grant, dataset, 'features', clock)
  const { geometryTypes } = dataset.manifest
  if (!geometryTypes.some((type) => type === 'Polygon' || type === 'MultiPolygon'))
    throw invalidInput('groupby', `has zones of "${table}", which has no polygons`)
  return {
    kind: 'within',
    name,
    label: labelOf(dataset, label),
    zones: (read) => catalog.withCurrent(dataset, (current) => snapshots.use(current, read)),
  }
}

function labelOf({ table, manifest: { columns } }: Dataset, label: string | null): string | null {
  const texts = columns.filter(({ type }) => type === 'text').map(({ name }) => name)
  if (label === null) return LABELS.find((name) => texts.includes(name)) ?? texts[0] ?? null
  const column = columns.find(({ name }) => name === label)
  if (column === undefined || column.type === 'json')
    throw invalidInput(
      'groupby',
      `names the label "${label.slice(0, 80)}", which is not a property of "${table}"`,
    )
  return label
}
