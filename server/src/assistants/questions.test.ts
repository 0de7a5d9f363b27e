import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { demoDatasets } from '@wayleave/demo/demo-datasets.ts'
import { needs } from '../../../scripts/test-run/needs.ts'
import { operator } from '../base/events/events.ts'
import { openTestServer, temporaryFolder } from '../testing/test-server.ts'

needs('time')

type Row = Record<string, string | number | null>
const WORDS = /[A-Za-z_]\w*/g

type Answer = { content: { text: string }[] }
type Call = [tool: string, input: Record<string, unknown>]

/**
 * Twenty questions about the data of the demo, each answered by the tools as their descriptions say: a call has only
 * parameters, functions, columns and tables that the tools themselves have told. The numbers are compared with those that
 * the source files give by brute force.
 */
test('twenty questions about the demo are answered with the right numbers', async (t) => {
  const service = await openTestServer(t)
  const folder = temporaryFolder(t)
  for (const { table, file, title, description, columnNotes, idColumn, timeColumn, write } of demoDatasets) {
    if (table === 'places') continue
    const path = join(folder, file)
    await write(path)
    const described = { title, description, columnNotes: columnNotes ?? {}, visibility: 'open' as const }
    await service.parts.publishing.publish(
      {
        table,
        path,
        description: described,
        ...(idColumn && { idColumn }),
        ...(timeColumn && { timeColumn }),
      },
      operator,
    )
  }
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`)))
  t.after(() => client.close())
  /** What an assistant has read when it asks: the tools, the list of datasets, and the descriptions of them. */
  const { tools } = await client.listTools()
  const read = [JSON.stringify(tools)]
  const readAs = async (name: string, input: object) => {
    const { content } = (await client.callTool({ name, arguments: { ...input } })) as Answer
    read.push(content[0]!.text)
  }
  await readAs('search_datasets', {})
  for (const { table } of demoDatasets) if (table !== 'places') await readAs('describe_dataset', { table })
  const known = new Set<string>(read.join('\n').match(WORDS))
  const ask = async ([name, input]: Call): Promise<string> => {
    const { inputSchema } = tools.find((tool) => tool.name === name)!
    for (const parameter of Object.keys(input)) assert.ok(parameter in inputSchema.properties!, parameter)
    for (const word of JSON.stringify(input).match(WORDS) ?? [])
      assert.ok(known.has(word), `No description has the word "${word}".`)
    const result = (await client.callTool({ name, arguments: input })) as Answer
    return result.content[0]!.text
  }
  /** The values of the first row of a table. */
  const firstRow = async (call: Call) => (await ask(call)).split('\n')[1]!.split(',')
  const groups = async (call: Call) =>
    new Map(
      (await ask(call))
        .split('\n')
        .slice(1)
        .map((line) => pairOf(line)),
    )

  const source = (file: string) => readFileSync(join(folder, file), 'utf8')
  const quakes: Row[] = JSON.parse(source('earthquakes.geojson')).features.map(
    ({ properties }: { properties: Row }) => properties,
  )
  const countries: Row[] = JSON.parse(source('countries.geojson')).features.map(
    ({ properties }: { properties: Row }) => properties,
  )
  const townships = source('townships.csv').trim().split('\n').slice(1)
  const magnitudes = quakes.map(({ mag }) => mag).filter((mag): mag is number => mag !== null)
  const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0)
  const countBy = (values: unknown[]) => {
    const counts = new Map<string, number>()
    for (const value of values) counts.set(String(value ?? ''), (counts.get(String(value ?? '')) ?? 0) + 1)
    return counts
  }
  const near = (actual: string | undefined, expected: number) =>
    assert.ok(
      Math.abs(Number(actual) - expected) <= 1e-9 * Math.abs(expected),
      `${actual} instead of ${expected}`,
    )
  const aggregate = (table: string, measures: string[], more: object = {}): Call => [
    'aggregate',
    { table, measures, ...more },
  ]
  const strong = quakes.filter(({ mag }) => Number(mag) >= 4.5)

  const questions: Record<string, () => Promise<void>> = {
    'Which datasets are there about earthquakes?': async () =>
      assert.match(await ask(['search_datasets', { text: 'earthquakes' }]), /\nearthquakes,/),
    'How deep is measured in which unit?': async () =>
      assert.match(await ask(['describe_dataset', { table: 'earthquakes' }]), /\ndepth,number,km,/),
    'How many earthquakes were there?': async () =>
      assert.deepEqual(await firstRow(aggregate('earthquakes', ['count'])), [String(quakes.length)]),
    'What was the strongest?': async () =>
      near((await firstRow(aggregate('earthquakes', ['max(mag)'])))[0], Math.max(...magnitudes)),
    'Where was the strongest?': async () => {
      const strongest = quakes.find(({ mag }) => mag === Math.max(...magnitudes))!
      const call: Call = [
        'query_features',
        { table: 'earthquakes', sortby: '-mag', columns: ['place'], limit: 1 },
      ]
      assert.ok((await ask(call)).includes(String(strongest['place'])))
    },
    'What was the mean magnitude?': async () =>
      near((await firstRow(aggregate('earthquakes', ['mean(mag)'])))[0], sum(magnitudes) / magnitudes.length),
    'How many were at least of magnitude 4.5?': async () =>
      near((await firstRow(aggregate('earthquakes', ['count'], { filter: 'mag >= 4.5' })))[0], strong.length),
    'How many of those were deeper than 100 km?': async () => {
      const filter = 'mag >= 4.5 AND depth > 100'
      const deep = strong.filter(({ depth }) => Number(depth) > 100)
      near((await firstRow(aggregate('earthquakes', ['count'], { filter })))[0], deep.length)
    },
    'How many on each day?': async () => {
      const days = countBy(quakes.map(({ time }) => String(time).slice(0, 10)))
      const found = await groups(aggregate('earthquakes', ['count'], { groupby: ['day(time)'] }))
      assert.deepEqual(
        [...found].map(([day, count]) => [day.slice(0, 10), Number(count)]).sort(),
        [...days].sort(),
      )
    },
    'How many of each type?': async () => {
      const found = await groups(aggregate('earthquakes', ['count'], { groupby: ['type'] }))
      const types = countBy(quakes.map(({ type }) => type))
      assert.deepEqual([...found].map(([type, count]) => [type, Number(count)]).sort(), [...types].sort())
    },
    'Which network recorded most?': async () => {
      const [network, count] = [...countBy(quakes.map(({ net }) => net))].sort((a, b) => b[1] - a[1])[0]!
      const call = aggregate('earthquakes', ['count'], { groupby: ['net'], sortby: '-count', limit: 1 })
      assert.deepEqual(await firstRow(call), [network, String(count)])
    },
    'How many networks are there?': async () =>
      near(
        (await firstRow(aggregate('earthquakes', ['distinct(net)'])))[0],
        countBy(quakes.map(({ net }) => net)).size,
      ),
    'How many people reported something?': async () => {
      const felt = quakes.map(({ felt }) => Number(felt ?? 0))
      near((await firstRow(aggregate('earthquakes', ['sum(felt)'])))[0], sum(felt))
    },
    'What was the median depth?': async () => {
      const depths = quakes.map(({ depth }) => Number(depth)).sort((a, b) => a - b)
      const found = Number((await firstRow(aggregate('earthquakes', ['median(depth)'])))[0])
      const middle = depths.length >> 1
      assert.ok(found >= depths[middle - 1]! && found <= depths[middle]!, String(found))
    },
    'How many by whole magnitude?': async () => {
      const found = await groups(aggregate('earthquakes', ['count'], { groupby: ['interval(mag,1)'] }))
      const total = sum([...found.values()].map(Number))
      assert.equal(total, quakes.length)
    },
    'How many around California?': async () => {
      const bbox = [-125, 32, -114, 42]
      const features: { geometry: { coordinates: number[] } }[] = JSON.parse(
        source('earthquakes.geojson'),
      ).features
      const inside = features.filter(
        ({ geometry: { coordinates } }) =>
          coordinates[0]! >= -125 &&
          coordinates[0]! <= -114 &&
          coordinates[1]! >= 32 &&
          coordinates[1]! <= 42,
      )
      near((await firstRow(aggregate('earthquakes', ['count'], { bbox })))[0], inside.length)
    },
    'How many countries are there?': async () =>
      near((await firstRow(aggregate('countries', ['count'])))[0], countries.length),
    'How large is Switzerland?': async () => {
      const area = Number(
        (await firstRow(aggregate('countries', ['area'], { filter: "name = 'Switzerland'" })))[0],
      )
      // 41,285 km² by the Federal Statistical Office; the outline is generalized.
      assert.ok(Math.abs(area / 41_285e6 - 1) < 0.05, String(area))
    },
    'How many earthquakes on land of the United States?': async () => {
      const outlines: { properties: Row; geometry: Area }[] = JSON.parse(source('countries.geojson')).features
      const land = outlines.find(({ properties }) => properties['name'] === 'United States of America')!
      const points: { geometry: { coordinates: number[] } }[] = JSON.parse(
        source('earthquakes.geojson'),
      ).features
      const inside = points.filter(({ geometry }) => isInside(geometry.coordinates, land.geometry))
      const call = aggregate('earthquakes', ['count'], { groupby: ['within(countries,name)'], limit: 300 })
      const lines = (await ask(call)).split('\n')
      const line = lines.find((each) => each.includes('United States of America'))
      near(line?.split(',').at(-1), inside.length)
    },
    'Which province of China has most townships?': async () => {
      const [code, count] = [...countBy(townships.map((line) => line.split(',').at(-2)))].sort(
        (a, b) => b[1] - a[1],
      )[0]!
      const call = aggregate('townships', ['count'], {
        groupby: ['provinceCode'],
        sortby: '-count',
        limit: 1,
      })
      assert.deepEqual(await firstRow(call), [code, String(count)])
    },
  }
  assert.equal(Object.keys(questions).length, 20)
  for (const [question, answer] of Object.entries(questions)) {
    for (const word of question.match(WORDS) ?? []) known.add(word)
    await t.test(question, answer)
  }
})

interface Area {
  type: 'Polygon' | 'MultiPolygon'
  coordinates: number[][][] | number[][][][]
}

/** Whether a ray from the point crosses the edges an odd number of times. */
function isInside([x, y]: number[], { coordinates }: Area): boolean {
  let crossings = 0
  for (const ring of ringsIn(coordinates)) {
    for (let i = 1; i < ring.length; i++) {
      const [[x1, y1], [x2, y2]] = [ring[i - 1]!, ring[i]!] as [[number, number], [number, number]]
      if (y1 > y! !== y2 > y! && x! < x1 + ((y! - y1) / (y2 - y1)) * (x2 - x1)) crossings++
    }
  }
  return crossings % 2 === 1
}

function ringsIn(coordinates: Area['coordinates']): number[][][] {
  const isPolygon = typeof coordinates[0]![0]![0] === 'number'
  return isPolygon ? (coordinates as number[][][]) : (coordinates as number[][][][]).flat()
}

/** The first and the last value of a line. */
function pairOf(line: string): [string, string] {
  const values = line.split(',')
  return [values[0]!.replaceAll('"', ''), values.at(-1)!]
}
