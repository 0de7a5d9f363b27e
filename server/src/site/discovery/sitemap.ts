import type { DatasetRecord } from '@wayleave/contract/records'
import { escapeHtml } from '../../http/pages/html.ts'
import { datasetPage } from './dcat.ts'

/** The protocol allows 50,000 URLs in a file; the rest is for the pages beside the datasets. */
export const DATASETS_PER_SITEMAP = 49_000

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9'
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

export function sitemapCount(datasets: readonly unknown[]): number {
  return Math.max(1, Math.ceil(datasets.length / DATASETS_PER_SITEMAP))
}

/** The sitemap with this number, counted from 1. The first also has the pages that are not about a dataset. */
export function sitemap(datasets: DatasetRecord[], base: string, number: number): string {
  const from = (number - 1) * DATASETS_PER_SITEMAP
  const pages = number === 1 ? ['/', '/datasets', '/docs'].map((path) => entry('url', base + path)) : []
  const entries = datasets
    .slice(from, from + DATASETS_PER_SITEMAP)
    .map(({ table, updatedAt }) => entry('url', datasetPage(base, table), updatedAt))
  return `${DECLARATION}<urlset xmlns="${NAMESPACE}">\n${[...pages, ...entries].join('')}</urlset>\n`
}

export function sitemapIndex(count: number, base: string): string {
  const entries = Array.from({ length: count }, (_, i) => entry('sitemap', `${base}/sitemaps/${i + 1}.xml`))
  return `${DECLARATION}<sitemapindex xmlns="${NAMESPACE}">\n${entries.join('')}</sitemapindex>\n`
}

function entry(element: 'url' | 'sitemap', url: string, modified?: string): string {
  const lastmod = modified === undefined ? '' : `<lastmod>${modified}</lastmod>`
  return `  <${element}><loc>${escapeHtml(url)}</loc>${lastmod}</${element}>\n`
}

/** Crawlers may read all pages; the API and the pages of accounts have nothing for them. */
export function robots(base: string): string {
  const paths = [
    '/v1/',
    '/sign-in',
    '/invitation',
    '/unsubscribe',
    '/keys',
    '/organization',
    '/administration',
  ]
  return `User-agent: *\n${paths.map((path) => `Disallow: ${path}\n`).join('')}\nSitemap: ${base}/sitemap.xml\n`
}
