import { useQuery } from '@tanstack/react-query'
import { DEVICE_FONT, PALETTES } from '@wayleave/contract/map-style'
import type { LayerSpecification, StyleSpecification } from 'maplibre-gl'
import { consoleSettings } from '../../console-settings.ts'
import type { Theme } from '../../theme.ts'
import type { Background } from './background.ts'
import { type AddProtocol, pmtilesStyle } from './pmtiles-style.ts'

/** Names of the basemap's sources and layers get this prefix, so that they cannot equal ours. */
const PREFIX = 'base:'

/**
 * The operator's own background of maps. Null if there is none or it cannot be loaded, which leaves the service's
 * own one; undefined while it loads.
 */
export function useBasemap(theme: Theme, addProtocol: AddProtocol): Background | null | undefined {
  const { basemap } = consoleSettings()
  const { data, isPending } = useQuery({
    queryKey: ['basemap', basemap, theme],
    queryFn: ({ signal }) => loadBasemap(basemap!, theme, addProtocol, signal),
    enabled: basemap !== null,
    staleTime: Infinity,
    retry: 1,
  })
  if (basemap === null) return null
  return data ?? (isPending ? undefined : null)
}

async function loadBasemap(
  address: string,
  theme: Theme,
  addProtocol: AddProtocol,
  signal: AbortSignal,
): Promise<Background> {
  if (new URL(address).pathname.endsWith('.pmtiles')) {
    return backgroundOf(await pmtilesStyle(address, PALETTES[theme], addProtocol), address)
  }
  const response = await fetch(address, { signal, credentials: 'omit', referrerPolicy: 'no-referrer' })
  if (!response.ok) throw new Error(`The basemap's style cannot be loaded: status ${response.status}.`)
  return backgroundOf((await response.json()) as StyleSpecification, address)
}

/** The parts of a style under names of their own, with absolute addresses. */
export function backgroundOf(style: StyleSpecification, address: string): Background {
  const absolute = (url: string) => absoluteUrl(url, address)
  const sources = Object.entries(style.sources).map(([name, source]) => [
    PREFIX + name,
    {
      ...source,
      ...('url' in source && source.url && { url: absolute(source.url) }),
      ...('tiles' in source && source.tiles && { tiles: source.tiles.map(absolute) }),
      ...('data' in source && typeof source.data === 'string' && { data: absolute(source.data) }),
    },
  ])
  const layers = style.layers.map((layer) => ({
    ...layer,
    id: PREFIX + layer.id,
    ...('source' in layer && { source: PREFIX + String(layer.source) }),
  })) as LayerSpecification[]
  const isName = ({ type }: LayerSpecification) => type === 'symbol'
  return {
    sources: Object.fromEntries(sources),
    layers: layers.filter((layer) => !isName(layer)),
    names: layers.filter(isName),
    ...(style.glyphs && { glyphs: absolute(style.glyphs) }),
    ...(typeof style.sprite === 'string' && { sprite: absolute(style.sprite) }),
    font: style.glyphs ? (fontOf(style.layers) ?? DEVICE_FONT) : DEVICE_FONT,
  }
}

/** Templates such as {z} stay as they are; a URL would encode their braces. */
function absoluteUrl(url: string, address: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) return url
  return new URL(url, address).href.replaceAll('%7B', '{').replaceAll('%7D', '}')
}

/** The first font that a layer names, because the basemap's server has glyphs of its own fonts only. */
function fontOf(layers: readonly LayerSpecification[]): string[] | null {
  for (const layer of layers) {
    const font = layer.type === 'symbol' ? layer.layout?.['text-font'] : undefined
    if (Array.isArray(font) && font.every((name) => typeof name === 'string')) {
      return font[0] === 'literal' ? null : (font as string[])
    }
  }
  return null
}
