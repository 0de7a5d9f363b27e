import { SourceError } from '../../source-error.ts'
import { megabytes } from '../reading/source-limits.ts'
import type { ZipArchive } from '../zip/zip.ts'
import { type DateKind, dateKindOfFormat } from './serial-date.ts'
import { parseWholeXml } from './xml-events.ts'

/** All shared texts are in memory while a sheet is read. */
const MAX_SHARED_CHARACTERS = 256 << 20

export interface Workbook {
  sheets: { name: string; path: string }[]
  is1904: boolean
}

export async function readWorkbook(archive: ZipArchive): Promise<Workbook> {
  const sheets: { name: string; id: string; isHidden: boolean }[] = []
  let is1904 = false
  await parseWholeXml(archive.source('xl/workbook.xml'), {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = /^(1|true)$/.test(attributes['date1904'] ?? '')
      if (name !== 'sheet') return
      const id = Object.entries(attributes).find(([key]) => /(^|:)id$/.test(key))?.[1] ?? ''
      const isHidden = (attributes['state'] ?? 'visible') !== 'visible'
      sheets.push({ name: attributes['name'] ?? '', id, isHidden })
    },
    close() {},
    text() {},
  })
  const targets = new Map<string, string>()
  await parseWholeXml(archive.source('xl/_rels/workbook.xml.rels'), {
    open(name, attributes) {
      const { Id, Target } = attributes
      if (name === 'Relationship' && Id && Target)
        targets.set(Id, Target.startsWith('/') ? Target.slice(1) : `xl/${Target}`)
    },
    close() {},
    text() {},
  })
  const visible = sheets.filter(({ isHidden }) => !isHidden)
  return {
    is1904,
    // Charts are sheets without rows and have no part under this name.
    sheets: visible.flatMap(({ name, id }) => {
      const path = targets.get(id)
      return path !== undefined && archive.names.includes(path) && path.includes('worksheets/')
        ? [{ name, path }]
        : []
    }),
  }
}

/** The kind of date that each cell style shows; null for other values. */
export async function readDateStyles(archive: ZipArchive): Promise<(DateKind | null)[]> {
  if (!archive.names.includes('xl/styles.xml')) return []
  const codes = new Map<number, string>()
  const styles: (DateKind | null)[] = []
  let isInCellFormats = false
  await parseWholeXml(archive.source('xl/styles.xml'), {
    open(name, attributes) {
      if (name === 'numFmt') codes.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? '')
      if (name === 'cellXfs') isInCellFormats = true
      if (name !== 'xf' || !isInCellFormats) return
      const id = Number(attributes['numFmtId'] ?? 0)
      styles.push(dateKindOfFormat(id, codes.get(id)))
    },
    close(name) {
      if (name === 'cellXfs') isInCellFormats = false
    },
    text() {},
  })
  return styles
}

export async function readSharedTexts(archive: ZipArchive): Promise<string[]> {
  const path = 'xl/sharedStrings.xml'
  if (!archive.names.includes(path)) return []
  const texts: string[] = []
  let characters = 0
  let text = ''
  let isText = false
  let isPhonetic = false
  await parseWholeXml(archive.source(path), {
    open(name) {
      if (name === 'si') text = ''
      if (name === 'rPh') isPhonetic = true
      if (name === 't') isText = !isPhonetic
    },
    close(name) {
      if (name === 't') isText = false
      if (name === 'rPh') isPhonetic = false
      if (name === 'si') texts.push(unescapeText(text))
    },
    text(part) {
      if (!isText) return
      text += part
      characters += part.length
      if (characters > MAX_SHARED_CHARACTERS)
        throw new SourceError(
          `${archive.file} has more than ${megabytes(MAX_SHARED_CHARACTERS)} of shared texts. Save the sheet as CSV and publish that.`,
        )
    },
  })
  return texts
}

/** Control characters are written as `_x000D_`, and an underscore before such a sequence as `_x005F_`. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9a-f]{4})_/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}
