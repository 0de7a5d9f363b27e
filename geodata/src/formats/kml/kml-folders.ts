/** Longer names are cut: they are repeated in every row. */
const MAX_NAME_LENGTH = 1000

/** The open elements around placemarks, for the names of folders. A folder's name precedes its placemarks. */
export class KmlFolders {
  readonly #elements: { name: string; title: string }[] = []

  open(name: string): void {
    this.#elements.push({ name, title: '' })
  }

  close(): void {
    this.#elements.pop()
  }

  /** Text outside placemarks, which is of interest only as a folder's name. */
  text(text: string): void {
    const folder = this.#elements.at(-2)
    if (this.#elements.at(-1)?.name !== 'name' || folder?.name !== 'Folder') return
    folder.title = (folder.title + text).slice(0, MAX_NAME_LENGTH)
  }

  /** The names of the open folders, from the outermost on; null if none has a name. */
  path(): string | null {
    const titles = this.#elements.filter(({ name }) => name === 'Folder').map(({ title }) => title.trim())
    return titles.filter((title) => title !== '').join('/') || null
  }
}
