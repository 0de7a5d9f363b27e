import { type IntegerSize, integerSizes } from '@wayleave/geodata/features'
import { exportColumns, type Manifest } from '@wayleave/geodata/snapshot'

/** Cached: the integers of a snapshot never change, and must have the same widths on all pages. */
const cachedSizes = new WeakMap<Manifest, Promise<(IntegerSize | null)[]>>()

/**
 * The size of the integers of each export column; null for columns of other types. The caller has verified
 * the snapshot's rows.
 */
export function integerSizesOf(folder: string, manifest: Manifest): Promise<(IntegerSize | null)[]> {
  let sizes = cachedSizes.get(manifest)
  if (!sizes) {
    sizes = integerSizes(folder, exportColumns(manifest))
    cachedSizes.set(manifest, sizes)
    sizes.catch(() => cachedSizes.delete(manifest))
  }
  return sizes
}
