import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { licenseLink } from '@wayleave/contract/licenses'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { aboutOf } from '../../http/about.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer } from '../../testing/test-server.ts'
import { jsonLd, turtle } from './graph.ts'
import { pageHead } from './page-head.ts'
import { DATASETS_PER_SITEMAP, sitemap, sitemapCount, sitemapIndex } from './sitemap.ts'

const run = promisify(execFile)
const NASTY = 'A "title" with \\ back\nslash, <tags> & ümläuts </script> 🌍'

/** Prints the triples of a JSON-LD and a Turtle file with rdflib, an independent reader. */
const COMPARE = `
import sys, json
from rdflib import Graph
from rdflib.compare import isomorphic
a = Graph().parse(sys.argv[1], format="json-ld")
b = Graph().parse(sys.argv[2], format="turtle")
print(json.dumps({"same": isomorphic(a, b), "triples": [[str(s), str(p), str(o)] for s, p, o in a]}))
`

async function triples(
  jsonld: string,
  ttl: string,
): Promise<{ same: boolean; triples: [string, string, string][] }> {
  const python = process.env['WAYLEAVE_TEST_PYTHON']
  assert.ok(python, 'WAYLEAVE_TEST_PYTHON must name a Python with rdflib; npm test sets it.')
  const folder = await mkdtemp(join(tmpdir(), 'discovery-'))
  try {
    await writeFile(join(folder, 'a.jsonld'), jsonld)
    await writeFile(join(folder, 'b.ttl'), ttl)
    const { stdout } = await run(python, ['-c', COMPARE, join(folder, 'a.jsonld'), join(folder, 'b.ttl')])
    return JSON.parse(stdout)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Properties of DCAT-AP 3 and the classes of their values, without their namespaces. */
const DCAT_AP_RANGES = {
  'dcat#contactPoint': 'vcard/ns#Kind',
  'dcat#dataset': 'dcat#Dataset',
  'dcat#distribution': 'dcat#Distribution',
  'dcat#landingPage': 'foaf/0.1/Document',
  'dcat#mediaType': 'terms/MediaType',
  'dcat#service': 'dcat#DataService',
  'foaf/0.1/homepage': 'foaf/0.1/Document',
  'terms/accrualPeriodicity': 'terms/Frequency',
  'terms/conformsTo': 'terms/Standard',
  'terms/format': 'terms/MediaTypeOrExtent',
  'terms/license': 'terms/LicenseDocument',
  'terms/publisher': 'foaf/0.1/Agent',
  'terms/rights': 'terms/RightsStatement',
  'terms/spatial': 'terms/Location',
  'terms/temporal': 'terms/PeriodOfTime',
}

/**
 * The rules of the sitemaps protocol 0.9 as a schema, for libxml2: the elements, their order and number, addresses of
 * at most 2,048 characters, and times of W3C's profile of ISO 8601.
 */
const SITEMAP_SCHEMA = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
  targetNamespace="http://www.sitemaps.org/schemas/sitemap/0.9" elementFormDefault="qualified">
  <xs:simpleType name="address"><xs:restriction base="xs:anyURI">
    <xs:minLength value="12"/><xs:maxLength value="2048"/>
  </xs:restriction></xs:simpleType>
  <xs:simpleType name="time"><xs:union memberTypes="xs:date xs:dateTime"/></xs:simpleType>
  <xs:complexType name="entry"><xs:sequence>
    <xs:element name="loc" type="address"/><xs:element name="lastmod" type="time" minOccurs="0"/>
  </xs:sequence></xs:complexType>
  <xs:element name="urlset"><xs:complexType><xs:sequence>
    <xs:element name="url" type="entry" maxOccurs="50000"/>
  </xs:sequence></xs:complexType></xs:element>
  <xs:element name="sitemapindex"><xs:complexType><xs:sequence>
    <xs:element name="sitemap" type="entry" maxOccurs="50000"/>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>`

async function validateSitemap(text: string): Promise<void> {
  const program = `
import sys
from lxml import etree
etree.XMLSchema(etree.fromstring(sys.argv[1])).assertValid(etree.fromstring(sys.argv[2].encode()))`
  await run(process.env['WAYLEAVE_TEST_PYTHON']!, ['-c', program, SITEMAP_SCHEMA, text])
}

test('the catalogue is DCAT in JSON-LD and Turtle, which rdflib reads as the same graph', {
  skip: lacks('python'),
}, async (t) => {
  const service = await openTestServer(t, {
    settings: {
      title: 'Data of the town',
      contactName: 'Survey office',
      contactUrl: 'mailto:a@example.org',
      termsUrl: 'https://example.org/terms',
    },
  })
  const description = {
    title: NASTY,
    description: NASTY,
    license: 'CC-BY-4.0',
    attribution: 'Us',
    keywords: ['a', 'b"c'],
    updateFrequency: 'daily' as const,
  }
  await publishText(service, 'places', 'places.geojson', points(30), { description })
  await publishText(service, 'rows', 'rows.csv', 'day,n\n2020-01-01,1\n2021-02-03,2\n', {
    description: { license: 'Ask <us>' },
  })
  const json = await service.request('GET', '/catalog.jsonld')
  const ttl = await service.request('GET', '/catalog.ttl')
  assert.match(json.headers.get('content-type')!, /^application\/ld\+json/)
  assert.match(ttl.headers.get('content-type')!, /^text\/turtle/)
  const graph = await triples(json.text, ttl.text)
  assert.ok(graph.same)
  const objects = (subject: string, predicate: string) =>
    graph.triples.filter(([s, p]) => s === subject && p.endsWith(predicate)).map(([, , o]) => o)
  const places = `${service.url}/v1/dataset/places`
  assert.deepEqual(objects(`${service.url}/catalog.jsonld`, 'dcat#dataset').sort(), [
    places,
    `${service.url}/v1/dataset/rows`,
  ])
  assert.deepEqual(objects(places, 'terms/title'), [NASTY])
  assert.deepEqual(objects(places, 'dcat#keyword').sort(), ['a', 'b"c'])
  const csv = `${places}/files/csv`
  assert.ok(objects(places, 'dcat#distribution').includes(csv))
  assert.deepEqual(objects(csv, 'dcat#mediaType'), ['https://www.iana.org/assignments/media-types/text/csv'])
  assert.deepEqual(objects(csv, 'terms/license'), ['https://spdx.org/licenses/CC-BY-4.0.html'])
  assert.ok(graph.triples.some(([, p, o]) => p.endsWith('dcat#startDate') && o === '2020-01-01'))
  assert.ok(graph.triples.some(([, p, o]) => p.endsWith('dcat#bbox') && o.startsWith('POLYGON((-180 -90,')))
  assert.ok(graph.triples.some(([, p, o]) => p.endsWith('rdf-schema#label') && o === 'Ask <us>'))

  // The SHACL shapes of DCAT-AP 3 demand that values have these classes in the same document.
  for (const [predicate, type] of Object.entries(DCAT_AP_RANGES)) {
    const values = graph.triples.filter(([, p]) => p.endsWith(predicate)).map(([, , o]) => o)
    assert.ok(values.length > 0, predicate)
    for (const value of values) {
      const types = objects(value, 'rdf-syntax-ns#type')
      assert.ok(
        types.some((one) => one.endsWith(type)),
        `${predicate} ${value}: ${types}`,
      )
    }
  }

  const again = { headers: { 'if-none-match': json.headers.get('etag')! } }
  assert.equal((await service.request('GET', '/catalog.jsonld', again)).status, 304)
  await publishText(service, 'more', 'more.geojson', points(3))
  assert.equal((await service.request('GET', '/catalog.jsonld', again)).status, 200)
})

test('values cannot leave their place in either form of a graph', { skip: lacks('python') }, async () => {
  const prefixes = { x: 'http://example.org/' }
  const hostile = ['"', '\\', '"""', '\n.', '<>', "'", '\u0000\u0007', '\ud800', ' ; x:b "c"', '\\u0022']
  const nodes = hostile.map((text, i) => ({
    id: `http://example.org/${i}> <x:${text}`,
    type: 'x:Thing',
    properties: {
      'x:text': text,
      'x:link': { iri: `http://example.org/${text}` },
      'x:none': null,
      'x:empty': [],
    },
  }))
  const graph = await triples(JSON.stringify(jsonLd(prefixes, nodes)), turtle(prefixes, nodes))
  assert.ok(graph.same)
  assert.equal(graph.triples.length, hostile.length * 3)
})

test('sitemap and robots.txt list the pages, with an index past the limit of one file', {
  skip: lacks('python'),
}, async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(3))
  const { text, headers } = await service.request('GET', '/sitemap.xml')
  assert.match(headers.get('content-type')!, /xml/)
  await validateSitemap(text)
  const locations = [...text.matchAll(/<loc>([^<]*)<\/loc>/g)].map((match) => match[1])
  assert.deepEqual(
    locations,
    ['/', '/datasets', '/docs', '/datasets/places'].map((path) => service.url + path),
  )
  assert.equal((await service.request('GET', '/sitemaps/1.xml')).text, text)
  for (const path of ['/sitemaps/2.xml', '/sitemaps/0.xml', '/sitemaps/x'])
    assert.equal((await service.request('GET', path)).status, 404, path)
  const robots = (await service.request('GET', '/robots.txt')).text
  assert.match(robots, /^User-agent: \*\nDisallow: \/v1\/\n/)
  assert.ok(robots.endsWith(`Sitemap: ${service.url}/sitemap.xml\n`))

  const dataset = { table: 'x', updatedAt: '2026-01-01T00:00:00.000Z' } as Parameters<
    typeof sitemap
  >[0][number]
  const many = Array.from({ length: DATASETS_PER_SITEMAP + 1 }, () => dataset)
  assert.equal(sitemapCount(many), 2)
  assert.equal(sitemap(many, 'https://a.example', 2).match(/<url>/g)?.length, 1)
  await validateSitemap(sitemapIndex(2, 'https://a.example'))
  assert.match(sitemapIndex(2, 'https://a.example'), /<loc>https:\/\/a\.example\/sitemaps\/2\.xml<\/loc>/)
})

test('llms.txt names what everybody may know, without what titles could add', async (t) => {
  const service = await openTestServer(t)
  const titles = { places: 'Places](http://evil.example)\n# New', hidden: 'Hidden' }
  for (const [table, title] of Object.entries(titles)) {
    const visibility = table === 'hidden' ? 'private' : 'public'
    await publishText(service, table, 'a.geojson', points(3), { description: { title, visibility } })
  }
  const { text, headers } = await service.request('GET', '/llms.txt')
  assert.match(headers.get('content-type')!, /^text\/plain/)
  assert.match(
    text,
    new RegExp(
      `^- \\[Places\\(http://evil.example\\) # New\\]\\(${service.url}/v1/dataset/places\\): 3 rows$`,
      'm',
    ),
  )
  assert.match(text, /^# Wayleave\n\n> /)
  assert.doesNotMatch(text, /Hidden/)
})

test('the documents for machines count against the network address', async (t) => {
  const service = await openTestServer(t, { settings: { addressRate: 5 } })
  const paths = [
    '/catalog.jsonld',
    '/catalog.ttl',
    '/sitemap.xml',
    '/robots.txt',
    '/catalog.jsonld',
    '/catalog.ttl',
  ]
  const statuses = []
  for (const path of paths) statuses.push((await service.request('GET', path)).status)
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429])
})

test('the page of a dataset has its title, description and schema.org data, escaped', {
  skip: lacks('python'),
}, async (t) => {
  const service = await openTestServer(t, { settings: { title: 'Data of the town' } })
  const description = { title: NASTY, description: NASTY, license: 'Ask us', credits: 0 }
  await publishText(service, 'places', 'places.geojson', points(30), { description })
  const { body } = await service.request('GET', '/v1/dataset/places')
  const about = aboutOf(service.config)
  const { text } = pageHead(body, about, service.url)
  const title = /<title>([^<]*)<\/title>/.exec(text)![1]!
  assert.ok(title.startsWith('A &quot;title&quot;') && title.endsWith('🌍 – Data of the town'))
  const data = JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(text)![1]!)
  assert.deepEqual([data['@type'], data.name, data.description], ['Dataset', NASTY, NASTY.replace('\n', ' ')])
  assert.equal(data.spatialCoverage.geo.box, '-90 -180 -61 -151')
  assert.deepEqual(data.license, { '@type': 'CreativeWork', name: 'Ask us' })
  assert.ok(data.isAccessibleForFree)
  assert.ok(data.distribution.some((one: { encodingFormat: string }) => one.encodingFormat === 'text/csv'))
  // rdflib reads it too; the vocabulary is named here, because the context is on another server.
  const local = JSON.stringify({ ...data, '@context': { '@vocab': 'https://schema.org/' } })
  const graph = await triples(local, `<x:y> a <x:z> .`)
  const kinds = graph.triples.filter(([, p]) => p.endsWith('#type')).map(([, , o]) => o)
  assert.ok(kinds.includes('https://schema.org/Dataset') && kinds.includes('https://schema.org/DataDownload'))
  assert.match(pageHead(null, about, service.url).text, /<title>Data of the town<\/title>/)
})

test('licences are linked by URL, SPDX identifier and usual name', () => {
  assert.equal(licenseLink('https://example.org/terms'), 'https://example.org/terms')
  assert.equal(licenseLink('ODbL-1.0'), 'https://spdx.org/licenses/ODbL-1.0.html')
  assert.equal(licenseLink('CC BY 4.0'), 'https://spdx.org/licenses/CC-BY-4.0.html')
  for (const text of ['', 'Ask us', 'javascript:alert(1)', 'CC']) assert.equal(licenseLink(text), null, text)
})
