import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { crc32 } from 'node:zlib'
import type { Canary, HostileFile } from './hostile-file.test-kit.ts'

type Entries = [name: string, content: string | Buffer, mode?: number][]

const LINK = 0o120777

/** A zip with any names and modes, which libraries for writing zips refuse. */
function zip(entries: Entries): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content, mode = 0o100644] of entries) {
    const [nameBytes, bytes] = [Buffer.from(name), Buffer.from(content as string)]
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(bytes.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(nameBytes.length, 22)
    const entry = Buffer.alloc(42)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(0x0314, 4)
    common.copy(entry, 6)
    entry.writeUInt32LE((mode << 16) >>> 0, 38)
    directory.push(entry, uint32(offset), nameBytes)
    const local = [uint32(0x04034b50), common, nameBytes, bytes]
    parts.push(...local)
    offset += local.reduce((length, part) => length + part.length, 0)
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, list, end])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const CSV = 'name,n\nown,1\n'
const MIF =
  'Version 300\nCharset "WindowsLatin1"\nDelimiter ","\nColumns 1\n  name Char(10)\nData\n\nPoint 1 2\n'

const ZIPS: [name: string, entries: (canary: Canary) => Entries, expected: HostileFile['expected']][] = [
  [
    'a table that is a link',
    ({ canaryFile }) => [
      ['a.csv', canaryFile, LINK],
      ['b.csv', CSV],
    ],
    'own-rows',
  ],
  [
    'only a link',
    ({ canaryFile }) => [['a.geojson', canaryFile, LINK]],
    { refused: /has no file in it that can be read/ },
  ],
  [
    'a shapefile of links',
    ({ canaryFile }) => [
      ['a.shp', canaryFile, LINK],
      ['a.dbf', canaryFile, LINK],
    ],
    { refused: /has no file in it that can be read/ },
  ],
  [
    'values of MapInfo that are a link',
    ({ canaryFile }) => [
      ['a.mif', MIF],
      ['a.mid', canaryFile, LINK],
    ],
    { refused: /a \.mid file, which is missing/ },
  ],
  [
    'a geodatabase of links',
    ({ canaryFile }) => [
      ['a.gdb/a00000001.gdbtable', canaryFile, LINK],
      ['a.gdb/a00000001.gdbtablx', canaryFile, LINK],
    ],
    { refused: /has no file in it that can be read/ },
  ],
  [
    'a geodatabase that is a definition',
    ({ canaryFile }) => [
      [
        'a.gdb/a00000001.gdbtable',
        `<OGRVRTDataSource><OGRVRTLayer name="a"><SrcDataSource>${canaryFile}</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>`,
      ],
    ],
    { refused: /cannot open it as such|GDAL cannot read/ },
  ],
  ['names that lead outside', () => [['../../a.csv', CSV]], { refused: /damaged|invalid/ }],
  [
    'names of MapInfo that lead outside',
    () => [
      ['x/../../a.mif', MIF],
      ['x/../../a.mid', '"own"\n'],
    ],
    { refused: /damaged|invalid/ },
  ],
  ['absolute names', ({ canaryFile }) => [[canaryFile, CSV]], { refused: /damaged|invalid/ }],
  [
    'names with backslashes that lead outside',
    () => [['..\\..\\a.csv', CSV]],
    { refused: /damaged|invalid/ },
  ],
  ['a zip in it', () => [['a.zip', zip([['a.csv', CSV]])]], { refused: /no file in it|compressed twice/ }],
  [
    'a zip under the name of a table',
    () => [['a.csv', zip([['a.csv', CSV]])]],
    { refused: /compressed twice/ },
  ],
  [
    'a view of MapInfo',
    ({ canaryFile }) => [
      ['a.tab', `!table\n!version 300\nOpen Table "${canaryFile}" Hide\n`],
      ['a.dat', ''],
    ],
    { refused: /view of other tables/ },
  ],
]

const DOCTYPE = ({ canaryFile, canaryPort }: Canary) =>
  `<!DOCTYPE x [<!ENTITY e SYSTEM "${pathToFileURL(canaryFile).href}"><!ENTITY f SYSTEM "http://127.0.0.1:${canaryPort}/">]>`
const SHEET_NAMESPACE = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** A workbook with one cell `own`; the text of another one, and further relations, are given. */
function workbook(prolog: string, text: string, canary: Canary): Entries {
  const outside = [pathToFileURL(canary.canaryFile).href, `http://127.0.0.1:${canary.canaryPort}/x.xlsx`]
  const external = outside.map(
    (target, i) =>
      `<Relationship Id="e${i}" Type="${RELATIONS}/externalLink" Target="${target}" TargetMode="External"/><Relationship Id="s${i}" Type="${RELATIONS}/worksheet" Target="${target}" TargetMode="External"/>`,
  )
  return [
    ['[Content_Types].xml', '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'],
    [
      'xl/workbook.xml',
      `<?xml version="1.0"?>${prolog}<workbook xmlns="${SHEET_NAMESPACE}" xmlns:r="${RELATIONS}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${RELATIONS}/sharedStrings" Target="sharedStrings.xml"/>${external.join('')}</Relationships>`,
    ],
    [
      'xl/sharedStrings.xml',
      `<?xml version="1.0"?>${prolog}<sst xmlns="${SHEET_NAMESPACE}"><si><t>name</t></si><si><t>own</t></si><si><t>${text}</t></si></sst>`,
    ],
    [
      'xl/worksheets/sheet1.xml',
      `<?xml version="1.0"?>${prolog}<worksheet xmlns="${SHEET_NAMESPACE}"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>0</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" t="s"><v>2</v></c></row><row r="3"><c r="A3" t="str"><f>[1]S!A1</f><v>own</v></c></row></sheetData></worksheet>`,
    ],
  ]
}

const TABLE_NAMESPACES =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"'

function openDocument(prolog: string, text: string, canary: Canary): Entries {
  const cell = (content: string) =>
    `<table:table-row><table:table-cell office:value-type="string"><text:p>${content}</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>${content}</text:p></table:table-cell></table:table-row>`
  const source = `<table:table-source xlink:href="${pathToFileURL(canary.canaryFile).href}"/><table:table-source xlink:href="http://127.0.0.1:${canary.canaryPort}/"/>`
  return [
    ['mimetype', 'application/vnd.oasis.opendocument.spreadsheet'],
    [
      'content.xml',
      `<?xml version="1.0"?>${prolog}<office:document-content ${TABLE_NAMESPACES}><office:body><office:spreadsheet><table:table table:name="S">${source}${cell('name')}${cell('own')}${cell(text)}</table:table></office:spreadsheet></office:body></office:document-content>`,
    ],
  ]
}

const DOCUMENTS = { xlsx: workbook, ods: openDocument }

export const ARCHIVE_FILES: HostileFile[] = [
  ...ZIPS.map(
    ([name, entries, expected]): HostileFile => ({
      name: `zip with ${name}`,
      format: 'zip',
      make: (canary) => written(canary, 'a.zip', entries(canary)),
      expected,
    }),
  ),
  ...(['xlsx', 'ods'] as const).flatMap((format): HostileFile[] => [
    {
      name: `${format} with external entities`,
      format,
      make: (canary) => written(canary, `a.${format}`, DOCUMENTS[format](DOCTYPE(canary), '&e;&f;', canary)),
      expected: { refused: /not valid XML|entity/ },
    },
    {
      name: `${format} with links to other documents`,
      format,
      make: (canary) => written(canary, `a.${format}`, DOCUMENTS[format]('', 'own', canary)),
      expected: 'own-rows',
    },
  ]),
]

function written({ folder }: Canary, name: string, entries: Entries): string {
  const path = join(folder, name)
  writeFileSync(path, zip(entries))
  return path
}
