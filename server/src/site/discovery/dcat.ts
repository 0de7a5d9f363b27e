import { licenseLink } from '@wayleave/contract/licenses'
import type { DatasetRecord } from '@wayleave/contract/records'
import type { About } from '../../http/about.ts'
import { plainText } from '../../http/pages/plain-text.ts'
import { type GraphNode, type GraphValue, referencedNodes } from './graph.ts'

export const DCAT_PREFIXES = {
  dcat: 'http://www.w3.org/ns/dcat#',
  dct: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  geo: 'http://www.opengis.net/ont/geosparql#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
}

/**
 * The catalogue as a graph of DCAT 3, with what DCAT-AP 3 requires of catalogues, datasets and distributions. The EU's
 * SHACL shapes check classes too, so everything that is referenced has one.
 */
export function dcatGraph(datasets: DatasetRecord[], about: About, base: string): GraphNode[] {
  const nodes = [
    catalogNode(datasets, about, base),
    serviceNode(datasets, about, base),
    ...datasets.flatMap((dataset) => [
      datasetNode(dataset, about, base),
      ...dataset.formats.map((format) => distributionNode(dataset, format)),
    ]),
  ]
  return [...nodes, ...referencedNodes(nodes)]
}

function catalogNode(datasets: DatasetRecord[], about: About, base: string): GraphNode {
  const latest = datasets
    .map(({ updatedAt }) => updatedAt)
    .sort()
    .at(-1)
  return {
    id: `${base}/catalog.jsonld`,
    type: 'dcat:Catalog',
    properties: {
      'dct:title': about.title,
      'dct:description': about.description || about.title,
      'dct:publisher': publisher(about),
      'foaf:homepage': { iri: `${base}/`, class: 'foaf:Document' },
      'dct:modified': latest === undefined ? null : dateTime(latest),
      'dct:rights': about.termsUrl === null ? null : { iri: about.termsUrl, class: 'dct:RightsStatement' },
      'dcat:service': { iri: serviceId(base) },
      'dcat:dataset': datasets.map(({ table }) => ({ iri: datasetId(base, table) })),
    },
  }
}

function serviceNode(datasets: DatasetRecord[], about: About, base: string): GraphNode {
  return {
    id: serviceId(base),
    type: 'dcat:DataService',
    properties: {
      'dct:title': `${about.title}: OGC API`,
      'dcat:endpointURL': { iri: `${base}/v1/ogc` },
      'dcat:endpointDescription': { iri: `${base}/v1/ogc/api` },
      'dct:conformsTo': {
        iri: 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core',
        class: 'dct:Standard',
      },
      'dct:publisher': publisher(about),
      'dcat:contactPoint': contactPoint(about),
      'dcat:servesDataset': datasets.map(({ table }) => ({ iri: datasetId(base, table) })),
    },
  }
}

function datasetNode(dataset: DatasetRecord, about: About, base: string): GraphNode {
  const { table, title, description, keywords, updatedAt, version, bbox, timeExtent, formats } = dataset
  return {
    id: datasetId(base, table),
    type: 'dcat:Dataset',
    properties: {
      'dct:title': title,
      'dct:description': plainText(description) || title,
      'dct:identifier': table,
      'dct:publisher': publisher(about),
      'dcat:contactPoint': dataset.contact === '' ? contactPoint(about) : datasetContact(dataset.contact),
      'dct:accrualPeriodicity': frequencyOf(dataset),
      'dct:bibliographicCitation': dataset.citation === '' ? null : dataset.citation,
      'dcat:keyword': keywords,
      'dcat:landingPage': { iri: datasetPage(base, table), class: 'foaf:Document' },
      'dct:modified': dateTime(updatedAt),
      'dcat:version': String(version),
      'dct:spatial': bbox === null ? null : place(bbox),
      'dct:temporal': timeExtent === null ? null : period(timeExtent),
      'dcat:distribution': formats.map(({ url }) => ({ iri: url })),
    },
  }
}

function distributionNode(dataset: DatasetRecord, format: DatasetRecord['formats'][number]): GraphNode {
  const mediaType = format.mediaType.split(';', 1)[0]!
  return {
    id: format.url,
    type: 'dcat:Distribution',
    properties: {
      'dct:title': `${dataset.title} (${format.format})`,
      'dcat:accessURL': { iri: format.url },
      'dcat:downloadURL': { iri: format.url },
      'dcat:mediaType': {
        iri: `https://www.iana.org/assignments/media-types/${mediaType}`,
        class: 'dct:MediaType',
      },
      'dct:format': fileType(format.format),
      'dcat:byteSize':
        format.bytes === null ? null : { value: String(format.bytes), type: 'xsd:nonNegativeInteger' },
      'dct:license': licenseValue(dataset.license),
      'dct:rights':
        dataset.attribution === ''
          ? null
          : { type: 'dct:RightsStatement', properties: { 'rdfs:label': dataset.attribution } },
    },
  }
}

function licenseValue(license: string): GraphValue | null {
  const link = licenseLink(license)
  if (link !== null) return { iri: link, class: 'dct:LicenseDocument' }
  return license === '' ? null : { type: 'dct:LicenseDocument', properties: { 'rdfs:label': license } }
}

function publisher({ title, contact }: About): GraphNode {
  return { type: 'foaf:Agent', properties: { 'foaf:name': contact?.name ?? title } }
}

function contactPoint({ title, contact }: About): GraphNode | null {
  if (contact === null) return null
  return {
    type: 'vcard:Kind',
    properties: {
      'vcard:fn': contact.name ?? title,
      'vcard:hasEmail': contact.email === undefined ? null : { iri: `mailto:${contact.email}` },
      'vcard:hasURL': contact.url === undefined ? null : { iri: contact.url },
    },
  }
}

/** The contact of one dataset: a mail address, a URL or a name. */
function datasetContact(contact: string): GraphNode {
  const properties: GraphNode['properties'] = /^[^\s@<>]+@[^\s@<>]+$/.test(contact)
    ? { 'vcard:fn': contact, 'vcard:hasEmail': { iri: `mailto:${encodeURI(contact)}` } }
    : /^https?:\/\/\S+$/.test(contact) && URL.canParse(contact)
      ? { 'vcard:fn': contact, 'vcard:hasURL': { iri: new URL(contact).href } }
      : { 'vcard:fn': contact }
  return { type: 'vcard:Kind', properties }
}

const EU_AUTHORITY = 'http://publications.europa.eu/resource/authority'

/** The EU's vocabulary of frequencies, which DCAT-AP requires. */
const FREQUENCIES: { [frequency: string]: string } = {
  continuous: 'CONT',
  daily: 'DAILY',
  weekly: 'WEEKLY',
  monthly: 'MONTHLY',
  quarterly: 'QUARTERLY',
  biannual: 'ANNUAL_2',
  annual: 'ANNUAL',
  irregular: 'IRREG',
  never: 'NEVER',
}

function frequencyOf({ updateFrequency }: DatasetRecord): GraphValue | null {
  const name = FREQUENCIES[updateFrequency]
  return name === undefined ? null : { iri: `${EU_AUTHORITY}/frequency/${name}`, class: 'dct:Frequency' }
}

/** The formats that the EU's vocabulary of file types has. */
const FILE_TYPES = new Map([
  ['csv', 'CSV'],
  ['json', 'JSON'],
  ['geojson', 'GEOJSON'],
  ['kml', 'KML'],
  ['shp', 'SHP'],
  ['gpkg', 'GPKG'],
])

function fileType(format: string): GraphValue | null {
  const name = FILE_TYPES.get(format)
  return name === undefined
    ? null
    : { iri: `${EU_AUTHORITY}/file-type/${name}`, class: 'dct:MediaTypeOrExtent' }
}

function place([west, south, east, north]: [number, number, number, number]): GraphNode {
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  const wkt = `POLYGON((${corners.map((corner) => corner.join(' ')).join(', ')}))`
  return { type: 'dct:Location', properties: { 'dcat:bbox': { value: wkt, type: 'geo:wktLiteral' } } }
}

function period([start, end]: [string, string]): GraphNode {
  return {
    type: 'dct:PeriodOfTime',
    properties: { 'dcat:startDate': dateOrTime(start), 'dcat:endDate': dateOrTime(end) },
  }
}

function dateOrTime(text: string): GraphValue {
  return text.includes('T') ? dateTime(text) : { value: text, type: 'xsd:date' }
}

function dateTime(text: string): GraphValue {
  return { value: text, type: 'xsd:dateTime' }
}

function serviceId(base: string): string {
  return `${base}/v1/ogc#service`
}

function datasetId(base: string, table: string): string {
  return `${base}/v1/dataset/${table}`
}

/** The page of a dataset in the console. */
export function datasetPage(base: string, table: string): string {
  return `${base}/datasets/${table}`
}
