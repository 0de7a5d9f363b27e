import { Type } from 'typebox'

/** For data without parameters. Where keys in addresses are allowed, they are allowed here too. */
export const noQuery = Type.Object({ api_key: Type.Optional(Type.String()) }, { additionalProperties: false })
