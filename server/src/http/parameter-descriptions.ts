/**
 * What parameters and properties mean that several routes have, or whose route does not say it. A test holds that no
 * parameter is without a description.
 */
export const PARAMETER_DESCRIPTIONS: Record<string, string> = {
  table: 'The table name of a dataset, as in its address.',
  format: 'The format of the file.',
  version: 'The number of a version; the first one is 1.',
  file: 'The file name: the table, a dot and the extension of the format.',
  organizationId: 'The id of an organization.',
  userId: 'The id of a user.',
  keyId: 'The id of a key, which is not its secret.',
  webhookId: 'The id of a webhook.',
  messageId: 'The id of a message to a webhook.',
  invitationId: 'The id of an invitation.',
  blockId: 'The id of the block of a network.',
  requestId: 'The id of a request for access.',
  grantId: 'The id of the access that an organization was given.',
  sessionId: 'The id of a session.',
  productId: 'The id of a product.',
  orderId: 'The id of an order.',
  invoiceFile: 'The number of an invoice with `.pdf` after it.',
  id: 'The id of a job.',
  api_key:
    'The key, for programs that cannot send headers. Only for keys with allowed origins, unless the operator permits it for all.',
  title: 'The title of the dataset, as people read it.',
  extractPrice:
    'What a file of filtered rows costs: its share of the price (`share`), nothing (`free`) or the whole price (`whole`).',
  state: 'Only those in this state.',
  kind: 'Only those of this kind.',
  limit: 'How many are returned at most.',
  keywords: 'The keywords by which the dataset is found.',
  permissions: 'What the member may do in the organization.',
  addOns: 'The add-ons: `API_ACCESS`, `GIS_ACCESS`, `ARCHIVED_DATA`.',
  credits: 'The number of credits.',
  token: 'The token of the link in the mail.',
  code: 'The six digits in the mail.',
  bind: 'Whether the code works only together with the `request` of the response.',
  request: 'What binds the request to the one before.',
  refreshToken: 'The refresh token of the session; left out if it is in the cookie.',
  switches: 'The notices by their kind: true switches one on.',
  add: 'How many credits are added; a negative number takes some away.',
  set: 'The new balance.',
  description: 'What people read about it.',
  period: 'How long a plan is paid for at once.',
  quantity: 'How many of the product.',
  revoke: 'Whether the key that was found is revoked.',
}

interface Described {
  description?: string
  properties?: Record<string, Described>
}

/** Describes the properties of a request's body that have no description of their own. */
export function describeProperties(schema: Described): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const description = property.description ?? PARAMETER_DESCRIPTIONS[name]
    if (description) property.description = description
    describeProperties(property)
  }
}
