import { mkdtemp } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { SourceError } from '../source-error.ts'
import { formatNamed, formatsWithExtension } from './choose-format.ts'
import type { Format, Input } from './format-table.ts'
import { type SourcePart, sourceParts } from './parts/source-part.ts'
import { type ByteSource, decompressedSource } from './reading/byte-source.ts'
import { type OpenedSource, type SourceContext, temporaryFolder } from './source-context.ts'

type OpenBytes = (
  source: ByteSource,
  name: string,
  path: string | null,
  context: SourceContext,
) => Promise<OpenedSource>
type OpenFormat = (
  format: Format,
  input: Input,
  name: string,
  context: SourceContext,
) => Promise<OpenedSource>
type OpenParts = (
  parts: SourcePart[],
  stays: boolean,
  path: string,
  file: string,
  context: SourceContext,
) => Promise<OpenedSource>

interface Openers {
  openBytes: OpenBytes
  openFormat: OpenFormat
  openParts: OpenParts
}

/** Opens what is in a compressed file. Spreadsheets are zip files as well. */
export async function openCompressed(
  kind: 'zip' | 'gzip' | 'zstd',
  name: string,
  path: string | null,
  context: SourceContext,
  source: ByteSource,
  { openBytes, openFormat, openParts }: Openers,
): Promise<OpenedSource> {
  const { file } = source
  if (path === null) throw new SourceError(`${file} is compressed twice.`)
  await source.bytes[Symbol.asyncIterator]().return?.()
  if (kind !== 'zip') {
    const inner = name.replace(/\.(gz|gzip|zst|zstd)$/i, '')
    return openBytes(decompressedSource(path, file, kind, context.limits), inner, null, context)
  }
  const [{ ZipArchive }, { documentFormat, openZip }] = await Promise.all([
    import('./zip/zip.ts'),
    import('./open-zip.ts'),
  ])
  const archive = await ZipArchive.open(path, file, context.limits)
  context.cleanups.push(() => archive.close())
  const document = await documentFormat(archive)
  if (document !== null) {
    const format = formatNamed(document)
    if (context.requestedFormat && context.requestedFormat !== format)
      throw new SourceError(
        `${file} is not ${context.requestedFormat.title}: by its content it is ${format.title}.`,
      )
    return openFormat(
      format,
      { file, source, path: async () => path, stays: true, isAlone: true },
      name,
      context,
    )
  }
  return openZip(archive, context, {
    isReadable: (each) => formatsWithExtension(extname(each).toLowerCase()).length > 0,
    openFile: (inner, innerName) => openBytes(inner, innerName, null, { ...context, layer: undefined }),
    openLayered: (inner, innerName) => openBytes(inner, innerName, null, context),
    async openParts(names) {
      // A compilation removes its scratch folder itself, so that threads can read the files until it ends.
      const stays = context.scratchFolder !== undefined
      const folder = stays
        ? await mkdtemp(join(context.scratchFolder!, 'parts-'))
        : await temporaryFolder(context)
      const paths = await archive.extractNumbered(names, folder)
      const named = names.map((each, i) => ({ path: paths[i]!, name: each, file: `${file}/${each}` }))
      return openParts(sourceParts(file, named), stays, path, file, context)
    },
    async openExtracted(formatName, names, main) {
      const folder = await temporaryFolder(context)
      const extracted = await archive.extract(names, folder)
      const innerFile = main === '' ? file : `${file}/${main}`
      const input: Input = {
        file: innerFile,
        source: { file: innerFile, bytes: (async function* () {})(), totalBytes: null },
        path: async () => extracted(main),
        stays: true,
        isAlone: false,
      }
      return openFormat(formatNamed(formatName), input, main, { ...context, isAlone: false })
    },
  })
}
