/** What the publisher says about a column. */
export interface ColumnNote {
  title?: string
  description?: string
  unit?: string
}

/** By column name. */
export type ColumnNotes = Record<string, ColumnNote>

/**
 * The notes on the columns of a dataset as they are stored. They may have a megabyte, and most requests need none of
 * them, so they are parsed when one is first asked for.
 */
export class StoredNotes {
  #notes: string | ColumnNotes

  constructor(text: string) {
    this.#notes = text
  }

  of(column: string): ColumnNote | undefined {
    if (typeof this.#notes === 'string') this.#notes = JSON.parse(this.#notes) as ColumnNotes
    // A column may be named like a built-in member of objects.
    return Object.hasOwn(this.#notes, column) ? this.#notes[column] : undefined
  }
}
