/** An operation of the API definition. */
export interface Operation {
  operationId: string
  summary: string
  tags: string[]
  parameters: object[]
  requestBody?: object
  responses: Record<string, object>
  security?: object[]
}
