/** A row of the sample: the columns, then `longitude` and `latitude`, and `geometry` for other shapes than points. */
export type Row = Record<string, unknown>
