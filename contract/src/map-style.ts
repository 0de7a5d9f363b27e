/** How maps of the service show a dataset: the console, the frame for other sites and the style document. */

export {
  type DataLayersOptions,
  dataLayers,
  hexagonLayers,
  type StyleLayer,
} from './map-style/data-layers.ts'
export * from './map-style/map-look.ts'
export * from './map-style/ramps.ts'
export * from './map-style/scale.ts'
export * from './map-style/world-background.ts'
