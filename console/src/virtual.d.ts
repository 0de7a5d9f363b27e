declare module 'virtual:world/urls' {
  /** The addresses of GeoJSON files: land and borders in two resolutions, and names of countries and places. */
  const urls: { coarse: string; fine: string; names: string; cities: string; towns: string }
  export default urls
}

declare module 'virtual:world/outline' {
  const path: string
  export default path
}
