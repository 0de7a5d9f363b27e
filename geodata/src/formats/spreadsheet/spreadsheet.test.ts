import assert from 'node:assert/strict'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type TestContext, test } from 'node:test'
import { ZipFile } from 'yazl'
import { openSource } from '../index.ts'
import { readAll, scratch } from '../reading.test-kit.ts'

async function zipped(t: TestContext, name: string, entries: { [name: string]: string }): Promise<string> {
  const path = join(scratch(t), name)
  const archive = new ZipFile()
  for (const [entry, content] of Object.entries(entries)) archive.addBuffer(Buffer.from(content), entry)
  archive.end()
  await pipeline(archive.outputStream, createWriteStream(path))
  return path
}

/** A sheet of one column, whose cells are given as XML. */
function ods(t: TestContext, cells: string[]): Promise<string> {
  const head = '<table:table-cell office:value-type="string"><text:p>value</text:p></table:table-cell>'
  const rows = [head, ...cells].map((cell) => `<table:table-row>${cell}</table:table-row>`).join('')
  return zipped(t, 'a.ods', {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content><table:table table:name="Data">${rows}</table:table></office:document-content>`,
  })
}

function xlsx(t: TestContext, cells: string[]): Promise<string> {
  const rows = ['<c t="str"><v>value</v></c>', ...cells].map((cell) => `<row>${cell}</row>`).join('')
  return zipped(t, 'a.xlsx', {
    'xl/workbook.xml': '<workbook><sheets><sheet name="Data" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/styles.xml':
      '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="18"/><xf numFmtId="46"/></cellXfs></styleSheet>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  })
}

async function valuesOf(path: string): Promise<{ values: unknown[]; notes: string[] }> {
  const { rows, stream } = await readAll(openSource(path))
  return { values: rows.map(({ value }) => value), notes: stream.notes }
}

test('a time in an OpenDocument sheet is its value, not what its format shows of it', async (t) => {
  const time = (value: string, shown: string) =>
    `<table:table-cell office:value-type="time" office:time-value="${value}"><text:p>${shown}</text:p></table:table-cell>`
  const path = await ods(t, [
    time('PT10H30M45.5S', '10:30'),
    time('PT09H05M00S', '09:05 AM'),
    time('PT09H05M07.000000000S', '09:05'),
    time('PT08H09M59.9999999999S', '08:10'),
    time('PT49H00M01.000001S', '49:00'),
    time('-PT1H30M', '-1:30'),
    time('P1DT2H', '26:00'),
    time('half past ten', '10:30'),
  ])
  assert.deepEqual((await valuesOf(path)).values, [
    '10:30:45.5',
    '09:05:00',
    '09:05:07',
    '08:10:00',
    '49:00:01.000001',
    '-01:30:00',
    '26:00:00',
    '10:30',
  ])
})

test('times and durations of Excel keep fractions of a second', async (t) => {
  const day = 86_400
  const cell = (style: number, seconds: number) => `<c s="${style}"><v>${seconds / day}</v></c>`
  const path = await xlsx(t, [cell(1, 37_845.5), cell(1, 32_700), cell(2, 176_401.25), cell(2, -5400)])
  assert.deepEqual((await valuesOf(path)).values, ['10:30:45.5', '09:05:00', '49:00:01.25', '-01:30:00'])
})

test('a text of an OpenDocument sheet that is only in an attribute is read', async (t) => {
  const path = await ods(t, [
    '<table:table-cell office:value-type="string" office:string-value="hidden"/>',
    '<table:table-cell office:value-type="string" office:string-value="a"><text:p>shown</text:p></table:table-cell>',
  ])
  assert.deepEqual((await valuesOf(path)).values, ['hidden', 'shown'])
})

test('the report counts formulas without a stored result', async (t) => {
  const path = await xlsx(t, [
    '<c><v>1</v></c>',
    '<c><f>A2*2</f><v>2</v></c>',
    '<c><f>A2*3</f><v></v></c><c><f>A2*4</f></c><c><v>5</v></c>',
    '<c t="str"><f>""</f><v></v></c><c/><c><v>6</v></c>',
  ])
  const sheet = await valuesOf(path)
  assert.deepEqual(sheet.values, [1, 2, null, null])
  const saved =
    'no stored result: published as null. Open the file in a spreadsheet program and save it there, which stores the results.'
  assert.deepEqual(sheet.notes, [`2 formulas have ${saved}`])
  const open = await ods(t, [
    '<table:table-cell table:formula="of:=1+1" office:value-type="float" office:value="2"/>',
    '<table:table-cell table:formula="of:=2+1"/><table:table-cell office:value-type="float" office:value="5"/>',
    '<table:table-cell table:formula="of:=&quot;&quot;" office:value-type="string"/><table:table-cell office:value-type="float" office:value="6"/>',
  ])
  const document = await valuesOf(open)
  assert.deepEqual(document.values, [2, null, null])
  assert.deepEqual(document.notes, [`1 formula has ${saved}`])
})
