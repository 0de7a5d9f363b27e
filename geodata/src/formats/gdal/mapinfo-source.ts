import { createReadStream, createWriteStream } from 'node:fs'
import { open, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { SourceError } from '../../source-error.ts'
import { type Encoding, encodingNamed } from '../reading/encoding.ts'
import { makeLink } from './make-link.ts'

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

/**
 * The path of a MapInfo file for GDAL: a copy of its header in `folder`, with the publisher's character set, and
 * links to the files beside it. Refuses a .mif whose values are missing, which GDAL reads as nulls.
 */
export async function mapinfoSource(
  path: string,
  file: string,
  { folder, encoding, isAlone }: { folder: string; encoding?: string; isAlone: boolean },
): Promise<string> {
  const head = await headOf(path)
  const isMif = /^\s*version\b/i.test(head)
  const header = head.slice(0, isMif ? /^\s*data\s*$/im.exec(head)?.index : undefined)
  const siblings = isAlone ? [] : await siblingsOf(path)
  const columns = Number(/^\s*columns\s+(\d+)/im.exec(header)?.[1] ?? 0)
  if (isMif && columns > 0 && !siblings.some((name) => /\.mid$/i.test(name)))
    throw new SourceError(
      `${file} has ${columns} columns, but their values are in a .mid file, which is missing. ${
        isAlone ? 'Send a zip of both files.' : 'Put it beside the .mif, or into the same zip.'
      }`,
    )
  const stem = basename(path, extname(path))
  if (encoding === undefined) {
    // GDAL knows the format by the extension, which a received file lacks.
    if (!isMif || /\.mif$/i.test(path)) return path
    const link = join(folder, `${stem}.mif`)
    await makeLink(path, link)
    return link
  }
  const charset = charsetOf(encodingNamed(encoding), file)
  for (const name of siblings)
    await makeLink(join(dirname(path), name), join(folder, `${stem}${extname(name).toLowerCase()}`))
  const main = join(folder, `${stem}${isMif ? '.mif' : '.tab'}`)
  await writeFile(main, isMif ? withMifCharset(header, charset) : withTabCharset(header, charset), 'latin1')
  await pipeline(createReadStream(path, { start: header.length }), createWriteStream(main, { flags: 'a' }))
  return main
}

/** The start of the file, a character for each byte. */
async function headOf(path: string): Promise<string> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** The other files with the same name before the extension. */
async function siblingsOf(path: string): Promise<string[]> {
  const stem = basename(path, extname(path)).toLowerCase()
  const names = await readdir(dirname(path))
  return names.filter(
    (name) => name !== basename(path) && basename(name, extname(name)).toLowerCase() === stem,
  )
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
