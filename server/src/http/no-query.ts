import { Type } from 'typebox'

/** For data routes without parameters. A key in the URL is accepted here too, if the settings allow it. */
export const noQuery = Type.Object({ api_key: Type.Optional(Type.String()) }, { additionalProperties: false })
