import { licenseLink } from '@wayleave/contract/licenses'
import type { DatasetRecord } from '@wayleave/contract/records'
import type { About } from '../../http/about.ts'
import { plainText } from '../../http/pages/plain-text.ts'
import { datasetPage } from './dcat.ts'

/** The dataset as a schema.org/Dataset, which search engines for datasets read. */
export function schemaOrgDataset(dataset: DatasetRecord, about: About, base: string): object {
  const { table, title, description, keywords, license, attribution, bbox, timeExtent } = dataset
  const link = licenseLink(license)
  return {
    '@context': 'https://schema.org/',
    '@type': 'Dataset',
    '@id': `${base}/v1/dataset/${table}`,
    name: title,
    description:
      plainText(description) || `${title}: ${dataset.rows} rows, ${dataset.columns.length} columns.`,
    url: datasetPage(base, table),
    identifier: table,
    version: String(dataset.version),
    dateModified: dataset.updatedAt,
    ...(keywords.length > 0 && { keywords }),
    ...(license !== '' && { license: link ?? { '@type': 'CreativeWork', name: license } }),
    ...(attribution !== '' && { creditText: attribution }),
    ...(dataset.citation !== '' && { citation: dataset.citation }),
    isAccessibleForFree: dataset.credits === 0 || dataset.visibility === 'open',
    publisher: {
      '@type': 'Organization',
      name: about.contact?.name ?? about.title,
      url: `${base}/`,
    },
    includedInDataCatalog: { '@type': 'DataCatalog', name: about.title, url: `${base}/` },
    variableMeasured: dataset.columns.map(({ name, title, description, unit }) =>
      title === undefined && description === undefined && unit === undefined
        ? name
        : {
            '@type': 'PropertyValue',
            name: title ?? name,
            ...(title !== undefined && { alternateName: name }),
            ...(description !== undefined && { description }),
            ...(unit !== undefined && { unitText: unit }),
          },
    ),
    ...(bbox !== null && {
      spatialCoverage: {
        '@type': 'Place',
        // schema.org: south west north east, as latitudes and longitudes.
        geo: { '@type': 'GeoShape', box: `${bbox[1]} ${bbox[0]} ${bbox[3]} ${bbox[2]}` },
      },
    }),
    ...(timeExtent !== null && { temporalCoverage: timeExtent.join('/') }),
    distribution: dataset.formats.map(({ url, mediaType }) => ({
      '@type': 'DataDownload',
      contentUrl: url,
      encodingFormat: mediaType.split(';', 1)[0],
    })),
  }
}
