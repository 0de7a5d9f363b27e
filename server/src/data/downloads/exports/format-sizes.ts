import { BoundedCache } from '@wayleave/geodata/base'
import { exportFormatsOf } from '@wayleave/geodata/exports'
import type { MaybePromise } from '../../../base/maybe-promise.ts'
import type { Dataset } from '../../catalog/dataset.ts'
import type { FileSizes } from '../../catalog/metadata.ts'
import type { ExportFile, ExportRequest } from './export-file.ts'

const MAX_VERSIONS = 10_000

/**
 * The sizes of built exports, for the metadata of datasets. The files of a version are looked up once, when its
 * metadata is first requested; later builds of this process are recorded. What another node builds meanwhile is
 * not noticed, so a size may be missing, but none is wrong: an export never changes, and tiles that are built again
 * are forgotten.
 */
export class FormatSizes {
  readonly #find: (request: ExportRequest) => Promise<ExportFile | undefined>
  /** By snapshot. A change replaces the map, so that a cached document can tell by it that it is stale. */
  readonly #sizes = new BoundedCache<string, FileSizes>(MAX_VERSIONS)

  /** `find` must not build anything. */
  constructor(find: (request: ExportRequest) => Promise<ExportFile | undefined>) {
    this.#find = find
  }

  of(dataset: Dataset): MaybePromise<FileSizes> {
    return this.#sizes.get(dataset.snapshot) ?? this.#look(dataset)
  }

  record({ version, format, encoding }: ExportRequest, { bytes }: ExportFile): void {
    const sizes = this.#sizes.get(version.snapshot)
    if (sizes === undefined) return
    if (encoding !== 'identity') {
      // It was made from the file itself, whose size is not known here.
      if (!format.ready && !sizes.has(format.format)) this.forget(version.snapshot)
      return
    }
    if (sizes.get(format.format) === bytes) return
    this.#sizes.set(version.snapshot, new Map([...sizes, [format.format, bytes]]))
  }

  /** The files of this snapshot, or of every snapshot, are looked up again. */
  forget(snapshot: string | null): void {
    if (snapshot === null) this.#sizes.clear()
    else this.#sizes.delete(snapshot)
  }

  async #look(dataset: Dataset): Promise<FileSizes> {
    const formats = exportFormatsOf(dataset.manifest)
      // The manifest states the sizes of the snapshot's own files, and looking for those would verify them.
      .filter(({ ready, format }) => !ready || format === 'pmtiles')
    const files = await Promise.all(
      formats.map((format) =>
        // A file that cannot be read has no known size; a download reports what is wrong.
        this.#find({ dataset, version: dataset, format, encoding: 'identity' }).catch(() => undefined),
      ),
    )
    const sizes: FileSizes = new Map(
      formats.flatMap(({ format }, i) => {
        const file = files[i]
        return file ? [[format, file.bytes] as const] : []
      }),
    )
    this.#sizes.set(dataset.snapshot, sizes)
    return sizes
  }
}
