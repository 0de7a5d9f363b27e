import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ColumnType } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { compileText } from '../compile-fixture.ts'

async function compiled(text: string, types?: { [column: string]: ColumnType }) {
  const { manifest, features } = await compileText(text, { types, file: 'a.csv', format: 'csv' })
  return {
    types: manifest.columns.map(({ type }) => type),
    rows: features.map(({ properties }) => Object.values(properties)),
    notes: manifest.notes.join('\n'),
  }
}

test('numbers as Europe writes them are recognised if the whole column agrees', async () => {
  const { types, rows, notes } = await compiled(
    'sep=;\na;b;c;d;e;f\n1,5;1.234,56;1 234;1.234;12,5;612 345 678\n-0,25;7;12;5.678;x;622 345 679\n',
  )
  assert.deepEqual(types, ['number', 'number', 'integer', 'integer', 'text', 'text'])
  assert.deepEqual(rows, [
    [1.5, 1234.56, 1234, 1234, '12,5', '612 345 678'],
    [-0.25, 7, 12, 5678, 'x', '622 345 679'],
  ])
  assert.match(notes, /Column a was read as numbers with a decimal comma\./)
  assert.match(notes, /Column b was read as numbers with points between thousands and a decimal comma\./)
  const english = await compiled('a,b\n"1,234,567.5",1.25\n"2,000",3.5\n')
  assert.deepEqual(
    [english.types, english.rows[0]],
    [
      ['number', 'number'],
      [1234567.5, 1.25],
    ],
  )
})

test('a comma that may mean decimals or thousands stays text, with a note, unless the type is chosen', async () => {
  const text = 'a;b\n1,234;x\n5,678;y\n'
  const open = await compiled(text)
  assert.deepEqual(open.types, ['text', 'text'])
  assert.match(open.notes, /Column a stays text: the comma in values such as 1,234 may separate/)
  assert.deepEqual((await compiled(text, { a: 'number' })).rows[0], [1.234, 'x'])
})

test('dates are read in the order that the whole column shows', async () => {
  const { types, rows, notes } = await compiled(
    'dot;dash;slash;us;open;time\n01.02.2020;31-12-2020;1/2/2021;12/31/2020;01-02-2020;03.04.2020 14:30\n02.02.2020;01-02-2020;13/2/2021;01/02/2020;03-04-2020;04.04.2020 09:05\n',
  )
  assert.deepEqual(types, ['date', 'date', 'date', 'date', 'text', 'timestamp'])
  assert.deepEqual(rows[0], [
    '2020-02-01',
    '2020-12-31',
    '2021-02-01',
    '2020-12-31',
    '01-02-2020',
    '2020-04-03T14:30:00Z',
  ])
  assert.match(notes, /Column us was read as dates, month first\./)
  assert.match(
    notes,
    /Column open stays text: in dates such as 01-02-2020 day and month cannot be told apart/,
  )
  const settled = await compiled('a;b\n31/12/2020;01/02/2020\n')
  assert.deepEqual(settled.rows, [['2020-12-31', '2020-02-01']])
})

const slashed = {
  header: 'opened,at,zoned,mixed,short,text',
  first: '1993/01/30,2023/11/08 22:24:54,2023/11/08 22:24:54.5+02,1993/01/30,2020/12/31,1993/01/30',
  second: '2020/02/29,2023/11/08 22:24,2023/11/08 22:24:54+0530,1993-01-31,2020/1/5,soon',
}

test('dates with slashes, as GDAL writes them in CSV, are dates', async () => {
  const { types, rows, notes } = await compiled(Object.values(slashed).join('\n'))
  assert.deepEqual(types, ['date', 'timestamp', 'timestamp', 'date', 'date', 'text'])
  assert.deepEqual(rows, [
    [
      '1993-01-30',
      '2023-11-08T22:24:54Z',
      '2023-11-08T20:24:54.5Z',
      '1993-01-30',
      '2020-12-31',
      '1993/01/30',
    ],
    ['2020-02-29', '2023-11-08T22:24:00Z', '2023-11-08T16:54:54Z', '1993-01-31', '2020-01-05', 'soon'],
  ])
  assert.match(notes, /Column opened was read as dates, year first\./)
  assert.match(notes, /Column zoned was read as times, year first\./)
  assert.doesNotMatch(notes, /Column text/)
  const chosen = await compiled(Object.values(slashed).join('\n'), { opened: 'text', mixed: 'date' })
  assert.deepEqual([chosen.types[0], chosen.types[3]], ['text', 'date'])
  assert.deepEqual([chosen.rows[1]![0], chosen.rows[1]![3]], ['2020/02/29', '1993-01-31'])
})

test('dates with slashes are text if a later row says so, however the rows are divided', async () => {
  const rows = Array.from({ length: 9000 }, (_, i) =>
    i < 8999 ? '1993/01/30,2023/11/08 22:24:54+00' : 'x,y',
  )
  const { types, rows: published } = await compiled(`a,b\n${rows.join('\n')}\n`)
  assert.deepEqual(types, ['text', 'text'])
  assert.deepEqual(published[0], ['1993/01/30', '2023/11/08 22:24:54+00'])
})

test('dates with slashes in GeoJSON are dates', async () => {
  const text = JSON.stringify({
    type: 'FeatureCollection',
    features: ['1993/01/30', '2020-02-29'].map((day, i) => ({
      type: 'Feature',
      id: day,
      properties: { day, at: `${day} 10:00`, other: i === 0 ? day : 'x' },
      geometry: null,
    })),
  })
  const { manifest, features } = await compileText(text)
  assert.deepEqual(
    manifest.columns.map(({ type }) => type),
    ['date', 'timestamp', 'text'],
  )
  assert.deepEqual(
    features.map(({ id, properties }) => [id, ...Object.values(properties)]),
    [
      ['1993/01/30', '1993-01-30', '1993-01-30T10:00:00Z', '1993/01/30'],
      ['2020-02-29', '2020-02-29', '2020-02-29T10:00:00Z', 'x'],
    ],
  )
})

test('the publisher chooses types, and a value that does not fit is named', async () => {
  const text = 'zip,n,code\n1234,5,007\n5678,6,08\n'
  const chosen = await compiled(text, { zip: 'text', n: 'number', code: 'integer' })
  assert.deepEqual(
    [chosen.types, chosen.rows[0]],
    [
      ['text', 'number', 'integer'],
      ['1234', 5, 7],
    ],
  )
  await assert.rejects(compiled('a,b\n1,x\n2,3\n', { b: 'integer' }), (error: Error) => {
    assert.ok(error instanceof SourceError)
    assert.match(error.message, /Column b cannot be published as integer: row 1 has "x"\.$/)
    return true
  })
  await assert.rejects(compiled('a,b\n1,x\n', { c: 'text' }), /has no column "c"/)
})

test('a chosen type that would change a value is refused, and the value is named', async () => {
  const refused: [string, ColumnType, string][] = [
    ['1.5', 'integer', '1.5'],
    ['9007199254740993.5', 'integer', '9007199254740993.5'],
    ['1.5e0', 'integer', '1.5e0'],
    ['x', 'number', 'x'],
    ['NaN', 'number', 'NaN'],
    ['infinity', 'number', 'infinity'],
    ['infinity', 'date', 'infinity'],
    ['0000-01-01', 'date', '0000-01-01'],
    ['12020-01-01', 'date', '12020-01-01'],
    ['2020-01-01T10:00:00Z', 'date', '2020-01-01T10:00:00Z'],
    ['2020-01-01 or so', 'date', '2020-01-01 or so'],
    ['-infinity', 'timestamp', '-infinity'],
    ['0001-01-01T00:00:00+05:00', 'timestamp', '0001-01-01T00:00:00+05:00'],
    ['2020-01-01T00:00:00.123456789Z', 'timestamp', '2020-01-01T00:00:00.123456789Z'],
  ]
  for (const [value, type, named] of refused)
    await assert.rejects(
      compiled(`a,b\n${value},1\n,2\n`, { a: type }),
      new RegExp(
        `Column a cannot be published as ${type}: row 1 has ${JSON.stringify(named).replace(/[.+]/g, '.')}`,
      ),
      `${value} as ${type}`,
    )
  const accepted: [string, ColumnType, unknown][] = [
    ['7.0', 'integer', 7],
    ['1.5e1', 'integer', 15],
    ['007', 'integer', 7],
    ['9007199254740994.0', 'integer', 9007199254740994],
    ['0001-01-01', 'date', '0001-01-01'],
    ['2020-01-01T00:00:00Z', 'date', '2020-01-01'],
    ['9999-12-31T23:59:59.999999Z', 'timestamp', '9999-12-31T23:59:59.999999Z'],
    ['2020-01-01 10:00:00.123456000', 'timestamp', '2020-01-01T10:00:00.123456Z'],
  ]
  for (const [value, type, published] of accepted) {
    const { types, rows } = await compiled(`a,b\n${value},1\n`, { a: type })
    assert.deepEqual([types[0], rows[0]![0]], [type, published], `${value} as ${type}`)
  }
})

test('dates of the year 0 stay text', async () => {
  const { types, rows } = await compiled(
    'a,b,c\n0000/01/01,01.01.0000,1/1/0000\n2020/01/02,02.01.2020,31/1/2020\n',
  )
  assert.deepEqual(types, ['text', 'text', 'text'])
  assert.deepEqual(rows[0], ['0000/01/01', '01.01.0000', '1/1/0000'])
})

test('the report names columns whose decimals have more digits than a number', async () => {
  const text =
    'long,small,exact,note\n12345678901234567890.12,-0.1234567890123456789,0.12345678901234568,a\n1.5,2,3.10000000000000000000,b\n'
  const { types, rows, notes } = await compiled(text)
  assert.deepEqual(types, ['number', 'number', 'number', 'text'])
  assert.deepEqual(rows[0], [
    Number('12345678901234567890.12'),
    -0.12345678901234568,
    0.12345678901234568,
    'a',
  ])
  assert.equal(
    notes,
    ['long', 'small']
      .map(
        (name) =>
          `Column ${name} has numbers of more than 17 digits: they are rounded. To keep every digit, publish with --type ${name}=text.`,
      )
      .join('\n'),
  )
  const kept = await compiled(text, { long: 'text' })
  assert.deepEqual([kept.types[0], kept.rows[0]![0]], ['text', '12345678901234567890.12'])
  assert.doesNotMatch(kept.notes, /Column long/)
  const mixed = await compiled('a;b\n1,5;x\n12345678901234567890.1234;y\n')
  assert.equal(mixed.types[0], 'text')
})
