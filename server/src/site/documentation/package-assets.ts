import { fileURLToPath } from 'node:url'

/**
 * Files of npm packages that pages load in the browser. The packed program has copies of
 * them beside our own assets, because it has no node_modules.
 */
const packageAssets: Record<string, () => string> = {
  'instrument-sans.woff2': () => font('latin'),
  'instrument-sans-ext.woff2': () => font('latin-ext'),
  'minisearch.js': () => import.meta.resolve('minisearch'),
}

export const PACKAGE_ASSETS = Object.keys(packageAssets)

function font(letters: string): string {
  return import.meta.resolve(
    `@fontsource-variable/instrument-sans/files/instrument-sans-${letters}-wght-normal.woff2`,
  )
}

/** The path of such a file; undefined if it is none of them, or in the packed program. */
export function packageAsset(name: string): string | undefined {
  if (!Object.hasOwn(packageAssets, name)) return undefined
  try {
    return fileURLToPath(packageAssets[name]!())
  } catch {
    return undefined
  }
}
