/** What the operator's settings mean for the console; the service writes them into every page. */
interface ConsoleSettings {
  /** The address of a MapLibre style or of a PMTiles file. */
  basemap: string | null
}

export function consoleSettings(): ConsoleSettings {
  const element = document.getElementById('console-settings')
  // The development server of the console writes none.
  return element?.textContent ? (JSON.parse(element.textContent) as ConsoleSettings) : { basemap: null }
}
