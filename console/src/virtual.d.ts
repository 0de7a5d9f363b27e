interface WorldLayers {
  land: { type: 'MultiPolygon'; coordinates: number[][][][] }
  borders: { type: 'MultiLineString'; coordinates: number[][][] }
}

declare module 'virtual:world/coarse' {
  const layers: WorldLayers
  export default layers
}

declare module 'virtual:world/fine' {
  const layers: WorldLayers
  export default layers
}

declare module 'virtual:world/outline' {
  const path: string
  export default path
}
