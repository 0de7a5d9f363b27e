import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { lacks } from '../../../scripts/test-run/needs.ts'
import { SourceError } from '../source-error.ts'
import { openSource, type SourceOptions } from './index.ts'
import { ogr2ogr, readAll, scratch, written } from './reading.test-kit.ts'

const NAMES: [encoding: string, label: string, names: string[]][] = [
  ['cp1251', 'windows-1251', ['Москва', 'Нижний Новгород', 'Екатеринбург']],
  ['koi8-r', 'koi8-r', ['Москва', 'Нижний Новгород', 'Екатеринбург']],
  ['shift_jis', 'shift_jis', ['東京都', '北海道札幌市', 'カタカナ']],
  ['euc_jp', 'euc-jp', ['東京都', '北海道札幌市', 'カタカナ', '横浜市中区', '大阪市']],
  ['gbk', 'gb18030', ['北京市', '上海市浦东新区', '广东省深圳市']],
  ['cp1252', 'windows-1252', ['Zürich', 'Besançon', 'Málaga', 'Göteborg', 'São Paulo']],
  ['iso8859_2', 'iso-8859-2', ['Łódź', 'Plzeň', 'České Budějovice', 'Košice', 'Žilina']],
  ['cp1253', 'windows-1253', ['Αθήνα', 'Θεσσαλονίκη', 'Πάτρα']],
]

/** Python has encoders for these; Node has not. */
function encoded(text: string, encoding: string): Buffer {
  const script =
    'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read().decode("utf-8").encode(sys.argv[1]))'
  return execFileSync('python3', ['-c', script, encoding], { input: text })
}

test('the encoding of a table is detected and reported, or named by the publisher', {
  skip: lacks('python'),
}, async (t) => {
  for (const [encoding, label, names] of NAMES) {
    const text = `id,name\n${names.map((name, i) => `${i},${name}`).join('\n')}\n`
    const bytes = encoded(text, encoding)
    const found = await readAll(openSource(written(t, 'a.csv', bytes)))
    assert.deepEqual(
      found.rows.map(({ name }) => name),
      names,
      encoding,
    )
    assert.match(found.stream.notes.join(), new RegExp(`was read as ${label}, which was detected`))
    const named = await readAll(openSource(written(t, 'a.csv', bytes), { encoding }))
    assert.deepEqual([named.rows, named.stream.notes], [found.rows, []])
  }
  const marked = Buffer.from('id,name\n1,Łódź and more text\n', 'utf16le')
  assert.deepEqual((await readAll(openSource(written(t, 'a.csv', marked)))).rows, [
    { id: '1', name: 'Łódź and more text' },
  ])
  const json = encoded('[{"name":"Москва"}]', 'cp1251')
  assert.deepEqual((await readAll(openSource(written(t, 'a.json', json), { encoding: 'cp1251' }))).rows, [
    { name: 'Москва' },
  ])
})

test('symbols in ASCII text are read as windows-1252, words in their encoding, also in capitals', {
  skip: lacks('python'),
}, async (t) => {
  const read = async (text: string, encoding: string) => {
    const bytes = encoded(`id,name\n1,${text}\n`, encoding)
    return (await readAll(openSource(written(t, 'a.csv', bytes)))).rows[0]!['name']
  }
  const symbols = ['UTC±00', '25 °C', '12 km²', '7 m³', '50± 5', '½ mile', '10 µm', '€ 5', '© OSM', '§ 12']
  for (const text of [...symbols, 'Joe’s place', '“x” – y', '10\u00a0km']) {
    assert.equal(await read(text, 'cp1252'), text)
  }
  const words = [
    ['Śląsk', 'iso8859_2'],
    ['東京都', 'shift_jis'],
    ['北京', 'gbk'],
    ['Москва', 'cp1251'],
    ['Málaga', 'cp850'],
    ['Peçeña México', 'cp1252'],
    ['Réunion UTC±00', 'cp1252'],
    ['Π. ΑΝΑΤΟΛΙΚΗΣ ΜΑΚΕΔΟΝΙΑΣ - ΘΡΑΚΗΣ', 'cp1253'],
    ['РУССКИЙ', 'cp1251'],
    ['НИЖНИЙ НОВГОРОД', 'koi8-r'],
    ['МОСКВА', 'cp866'],
    ['MÜNCHEN', 'cp1252'],
    ['ŞANLIURFA', 'cp1254'],
  ]
  for (const [text, encoding] of words) assert.equal(await read(text!, encoding!), text)
})

test('a .dbf is read by its language driver, otherwise its encoding is detected', {
  skip: lacks('gdal'),
}, async (t) => {
  const folder = scratch(t)
  const [, , names] = NAMES[0]!
  writeFileSync(join(folder, 'a.csv'), `id,name\n${names.map((name) => `1,${name}`).join('\n')}\n`)
  ogr2ogr('-f', 'ESRI Shapefile', join(folder, 'a.dbf'), join(folder, 'a.csv'), '-lco', 'ENCODING=CP1251')
  rmSync(join(folder, 'a.cpg'), { force: true })
  const bytes = readFileSync(join(folder, 'a.dbf'))
  const cases: [driver: number, options: SourceOptions, note: RegExp][] = [
    [0xc9, {}, /^$/],
    [0, {}, /does not state its encoding; its texts were read as windows-1251, which was detected/],
    [0x57, { encoding: 'windows-1251' }, /^$/],
  ]
  for (const [driver, options, note] of cases) {
    bytes[29] = driver
    const { rows, stream } = await readAll(openSource(written(t, 'b.dbf', bytes), options))
    assert.deepEqual(
      rows.map(({ name }) => name),
      names,
    )
    assert.match(stream.notes.join(), note)
  }
})

test('what cannot be decoded is refused', async (t) => {
  const cases: [string, Buffer, SourceOptions, RegExp][] = [
    [
      'a.csv',
      Buffer.from('a,b\n1,Zürich\n', 'latin1'),
      { encoding: 'utf-8' },
      /^a\.csv is not utf-8: it cannot/,
    ],
    ['a.csv', Buffer.from('a,b\n1,2\n'), { encoding: 'klingon' }, /^The encoding "klingon" is not known/],
    [
      'a.geojson',
      Buffer.from('{"type":"FeatureCollection","features":[{"x":"\xe9"}]}', 'latin1'),
      { encoding: 'shift_jis' },
      /is not shift_jis/,
    ],
  ]
  for (const [name, bytes, options, message] of cases)
    await assert.rejects(
      readAll(openSource(written(t, name, bytes), options)),
      (error: Error) => error instanceof SourceError && message.test(error.message),
    )
  const gpkg = join(scratch(t), 'a.gpkg')
  const database = new DatabaseSync(gpkg)
  database.exec(`CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT);
    INSERT INTO gpkg_contents VALUES ('t', 'attributes'); CREATE TABLE t (name TEXT)`)
  database.close()
  await assert.rejects(openSource(gpkg, { encoding: 'utf-8' }), /whose encoding is fixed/)
})
