declare module 'virtual:world/urls' {
  /** The addresses of GeoJSON files: land and borders in two resolutions, and the names of countries. */
  const urls: { coarse: string; fine: string; names: string }
  export default urls
}

declare module 'virtual:world/outline' {
  const path: string
  export default path
}
