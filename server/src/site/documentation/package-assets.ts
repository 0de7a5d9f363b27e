import { fileURLToPath } from 'node:url'

/**
 * Files of npm packages that the documentation's pages load in the browser. The packed program has copies of
 * them beside our own assets, because it has no node_modules.
 */
const packageAssets: Record<string, () => string> = {
  'minisearch.js': () => import.meta.resolve('minisearch'),
  'swagger-ui-bundle.js': () => import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  'swagger-ui.css': () => import.meta.resolve('swagger-ui-dist/swagger-ui.css'),
}

export const PACKAGE_ASSETS = Object.keys(packageAssets)

/** The path of such a file; undefined if it is none of them, or in the packed program. */
export function packageAsset(name: string): string | undefined {
  if (!Object.hasOwn(packageAssets, name)) return undefined
  try {
    return fileURLToPath(packageAssets[name]!())
  } catch {
    return undefined
  }
}
