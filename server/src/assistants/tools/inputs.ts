import { z } from 'zod'

export const tableInput = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,62}$/)
  .describe('The table name of a dataset, as search_datasets lists it.')

/** Which rows: the same as for features over HTTP. */
export const rowsInput = {
  filter: z
    .string()
    .max(20_000)
    .optional()
    .describe(
      "A condition in CQL2 text over the dataset's columns, such as: population > 1000000 AND continent = 'Asia'. " +
        "Also LIKE with %, IN (…), BETWEEN, IS NULL, NOT, CASEI(name) = CASEI('…'), S_INTERSECTS(geometry, BBOX(…)).",
    ),
  bbox: z
    .array(z.number())
    .length(4)
    .optional()
    .describe('Only features in this box: west, south, east, north in degrees (WGS84).'),
  datetime: z
    .string()
    .max(100)
    .optional()
    .describe(
      'Only features at this time or in this interval, such as 2020-01-01/2020-12-31 or 2021-01-01/..',
    ),
}

export function rowsQuery(input: { filter?: string; bbox?: number[]; datetime?: string }) {
  return {
    filter: input.filter,
    bbox: input.bbox?.join(','),
    datetime: input.datetime,
  }
}
