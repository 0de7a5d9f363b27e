import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { SourceError } from '../../source-error.ts'
import { openSource, type SourceOptions } from '../index.ts'
import { readAll, written, zipped } from '../reading.test-kit.ts'

const read = (t: TestContext, text: string, options: SourceOptions = {}, name = 'a.csv') =>
  readAll(openSource(written(t, name, text), options))
const namesOf = ({ stream }: Awaited<ReturnType<typeof read>>) => stream.columns.map(({ name }) => name)

/** A sheet with these rows; empty cells are left out, as in merged ones. */
function sheet(t: TestContext, rows: (string | number)[][]): Promise<string> {
  const cell = (value: string | number, column: number, row: number) => {
    const at = `${String.fromCharCode(65 + column)}${row + 1}`
    if (value === '') return ''
    return typeof value === 'number'
      ? `<c r="${at}"><v>${value}</v></c>`
      : `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`
  }
  const data = rows.map(
    (row, i) => `<row r="${i + 1}">${row.map((value, c) => cell(value, c, i)).join('')}</row>`,
  )
  return zipped(t, 'a.xlsx', {
    'xl/workbook.xml':
      '<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Type="worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${data.join('')}</sheetData></worksheet>`,
  })
}

test('a second line of column names is reported, and --header-lines joins the two', async (t) => {
  const text = 'name;population;area\n;persons;km²\nA;12;3,5\nB;7;1,5\nC;9;2\n'
  const plain = await read(t, text)
  assert.deepEqual(namesOf(plain), ['name', 'population', 'area'])
  assert.match(
    plain.stream.notes.join(),
    /^The column names look wrong: the line below them \("persons", "km²"\).*--header-lines 2\.$/,
  )
  const joined = await read(t, text, { headerLines: 2 })
  assert.deepEqual(namesOf(joined), ['name', 'population persons', 'area km²'])
  assert.deepEqual(joined.rows.length, 3)
  assert.deepEqual(
    joined.features.map(({ row }) => row),
    [1, 2, 3],
  )
  assert.deepEqual(joined.stream.notes, [])
})

test('a title above a sheet with merged headings is reported, and the options that it names read it', async (t) => {
  const path = await sheet(t, [
    ['Population by region'],
    [],
    ['Region', 2020, '', 2021, ''],
    ['', 'm', 'f', 'm', 'f'],
    ['North', 1, 2, 3, 4],
    ['South', 5, 6, 7, 8],
    ['West', 9, 10, 11, 12],
  ])
  const plain = await readAll(openSource(path))
  const note = plain.stream.notes.join()
  assert.match(note, /the first line has only "Population by region", like a title above the table/)
  assert.match(note, /publish with --skip-lines 1 --header-lines 2\.$/)
  const right = await readAll(openSource(path, { skipLines: 1, headerLines: 2 }))
  assert.deepEqual(namesOf(right), ['Region', '2020 m', '2020 f', '2021 m', '2021 f'])
  assert.deepEqual(right.rows[2], { Region: 'West', '2020 m': 9, '2020 f': 10, '2021 m': 11, '2021 f': 12 })
  assert.deepEqual(right.stream.notes, [])
})

test('title lines above a CSV are named, and --skip-lines leaves them out', async (t) => {
  const table = 'name;value\na;1\nb;2\nc;3\n'
  const cases: [title: string, lines: number][] = [
    ['Report of the year\n', 1],
    ['Stations, Berlin\n', 1],
    ['Report\n\nCreated: 2024\n\n', 2],
  ]
  for (const [title, lines] of cases) {
    for (const name of ['a.csv', 'a.txt'])
      await assert.rejects(
        read(t, title + table, {}, name),
        (error: Error) =>
          error instanceof SourceError &&
          error.message.includes(`leave ${lines === 1 ? 'it' : 'them'} out with --skip-lines ${lines}.`),
        title,
      )
    const { rows } = await read(t, title + table, { skipLines: lines })
    assert.deepEqual(rows, [{ name: 'a', value: '1' }, { name: 'b', value: '2' }, { name: 'c', value: '3' }]) // biome-ignore format: one table
  }
  const padded = await read(t, 'Title;;\n;;\nname;value;more\na;1;2\nb;2;3\nc;3;4\n')
  assert.match(
    padded.stream.notes.join(),
    /like a title above the table\. If so, publish with --skip-lines 2\.$/,
  )
  await assert.rejects(read(t, 'a,b\n1,2\n', { skipLines: 5 }), /has no lines after the 5 that --skip-lines/)
  await assert.rejects(read(t, '[{"a":1}]', { skipLines: 1 }, 'a.json'), /so --skip-lines has no meaning\.$/)
})

test('ordinary tables get no note about their column names', async (t) => {
  const tables = [
    'a,b\n1,2\n3,4\n5,6\n7,8\n',
    'name,value\nx,unknown\ny,1\nz,2\nw,3\n',
    'name,value,other\nx,n/a,k.A.\ny,1,2\nz,2,3\nw,3,4\n',
    'a,b,c,d\n1,,,\n,,,2\n3,,,\n4,,,\n',
    'id,text,more\n1,a,b\n2,c,d\n3,e,f\n',
    'note\n1\n2\n3\n',
    'day,place\n2020-01-01,x\n2020-01-02,y\n2020-01-03,z\n2020-01-04,z\n',
    '"","a","b"\n"1",2,3\n"2",4,5\n"3",6,7\n"4",6,7\n',
  ]
  for (const text of tables)
    assert.doesNotMatch((await read(t, text)).stream.notes.join(), /look wrong/, text)
  for (const text of ['x,y\n1,2\n3\n', 'one, two\nthree\nfour\n', 'a\nb,c\nd\n'])
    await read(t, text, {}, 'a.csv')
})

test("the first line of Eurostat's files has the column names", async (t) => {
  const text = 'freq,unit,sex,geo\\TIME_PERIOD\t2015 \t2016 \nA,PC,T,DE\t12.3 \t13.1 b\nA,PC,T,FR\t: \t14 \n'
  const { rows, stream } = await read(t, text, {}, 'demo.tsv')
  assert.deepEqual(namesOf({ stream } as never), ['freq,unit,sex,geo\\TIME_PERIOD', '2015', '2016'])
  assert.equal(rows.length, 2)
  const numbers = await read(
    t,
    'freq,geo\\TIME_PERIOD\t2015 \t2016 \nA,DE\t12.3 \t13.1 \nA,FR\t11 \t14 \n',
    {},
    'demo.tsv',
  )
  assert.deepEqual(namesOf(numbers), ['freq,geo\\TIME_PERIOD', '2015', '2016'])
})
