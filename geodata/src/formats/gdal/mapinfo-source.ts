import { createReadStream, createWriteStream } from 'node:fs'
import { open, readdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { readFully } from '../../bytes/read-fully.ts'
import { SourceError } from '../../source-error.ts'
import { refuseLink } from '../reading/refuse-link.ts'
import { type Encoding, encodingNamed } from '../reading/text/encoding.ts'
import { makeLink } from './make-link.ts'
import { refuseOtherTables } from './mapinfo-definition.ts'

const HEAD_BYTES = 1 << 20
/** MapInfo's names of character sets that GDAL knows, by our names of encodings. */
const CHARSETS: { [encoding: string]: string } = {
  'windows-1250': 'WindowsLatin2',
  'windows-1251': 'WindowsCyrillic',
  'windows-1252': 'WindowsLatin1',
  'windows-1253': 'WindowsGreek',
  'windows-1254': 'WindowsTurkish',
  'windows-1255': 'WindowsHebrew',
  'windows-1256': 'WindowsArabic',
  'windows-1257': 'WindowsBalticRim',
  big5: 'WindowsTradChinese',
  gbk: 'WindowsSimpChinese',
  shift_jis: 'WindowsJapanese',
  'euc-kr': 'WindowsKorean',
  ...Object.fromEntries([2, 3, 4, 5, 6, 7, 8].map((n) => [`iso-8859-${n}`, `ISO8859_${n}`])),
  ...Object.fromEntries(
    [437, 850, 852, 855, 857, 860, 861, 863, 864, 865, 869].map((n) => [`cp${n}`, `CodePage${n}`]),
  ),
}

/** The files of a table, beside its .tab or .mif. */
const PART = /\.(dat|map|id|ind|dbf|mid)$/i

/**
 * The path of a MapInfo file for GDAL: in `folder`, with links to the files that belong to it and nothing else
 * beside it. The publisher's character set is written into a copy of the header. Refuses a .mif whose values are
 * missing, which GDAL reads as nulls, and a .tab that names other files.
 */
export async function mapinfoSource(
  path: string,
  file: string,
  { folder, encoding, isAlone }: { folder: string; encoding?: string; isAlone: boolean },
): Promise<string> {
  const head = await headOf(path)
  const isMif = /^\s*version\b/i.test(head)
  if (!isMif) await refuseLargeDefinition(path, file)
  if (!isMif) refuseOtherTables(head, file)
  const header = head.slice(0, isMif ? /^\s*data\s*$/im.exec(head)?.index : undefined)
  const parts = isAlone ? [] : await partsOf(path, file)
  const columns = Number(/^\s*columns\s+(\d+)/im.exec(header)?.[1] ?? 0)
  if (isMif && columns > 0 && !parts.some((name) => /\.mid$/i.test(name)))
    throw new SourceError(
      `${file} has ${columns} columns, but their values are in a .mid file, which is missing. ${
        isAlone ? 'Send a zip of both files.' : 'Put it beside the .mif, or into the same zip.'
      }`,
    )
  const stem = basename(path, extname(path))
  for (const name of parts)
    await makeLink(join(dirname(path), name), join(folder, `${stem}${extname(name).toLowerCase()}`))
  const main = join(folder, `${stem}${isMif ? '.mif' : '.tab'}`)
  if (encoding === undefined) {
    await makeLink(path, main)
    return main
  }
  const charset = charsetOf(encodingNamed(encoding), file)
  await writeFile(main, isMif ? withMifCharset(header, charset) : withTabCharset(header, charset), 'latin1')
  await pipeline(createReadStream(path, { start: header.length }), createWriteStream(main, { flags: 'a' }))
  return main
}

/** A .tab is a short text, all of which is checked. */
async function refuseLargeDefinition(path: string, file: string): Promise<void> {
  if ((await stat(path)).size > HEAD_BYTES)
    throw new SourceError(`${file} is too large to be the definition of a MapInfo table.`)
}

/** The start of the file, a character for each byte. */
async function headOf(path: string): Promise<string> {
  const handle = await open(path)
  try {
    const bytes = Buffer.alloc(HEAD_BYTES)
    return bytes.toString('latin1', 0, await readFully(handle, bytes, 0))
  } finally {
    await handle.close()
  }
}

/** The files of the table, which have the same name before the extension. */
async function partsOf(path: string, file: string): Promise<string[]> {
  const stem = basename(path, extname(path)).toLowerCase()
  const names = await readdir(dirname(path))
  const parts = names.filter(
    (name) => PART.test(name) && basename(name, extname(name)).toLowerCase() === stem,
  )
  for (const name of parts) await refuseLink(join(dirname(path), name), file)
  return parts.filter((name) => name !== basename(path))
}

function charsetOf({ name }: Encoding, file: string): string {
  // An unknown character set is not converted, and GDAL's texts are UTF-8.
  if (name === 'utf-8') return 'Neutral'
  const charset = CHARSETS[name]
  if (charset === undefined)
    throw new SourceError(`${file} is MapInfo, which has no character set for the encoding ${name}.`)
  return charset
}

function withMifCharset(header: string, charset: string): string {
  return header.replace(/^\s*charset\s+"[^\r\n]*/im, `Charset "${charset}"`)
}

function withTabCharset(text: string, charset: string): string {
  return text
    .replace(/^!charset[^\r\n]*/im, `!charset ${charset}`)
    .replace(/\bCharset\s+"[^"]*"/i, `Charset "${charset}"`)
}
