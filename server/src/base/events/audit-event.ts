/** Organizations whose webhooks are told. */
export type Audience = 'everyone' | readonly string[]

export interface AuditEvent {
  /** A noun and a verb in the past tense: `key.created`, `member.removed`, `session.started`. */
  action: string
  organizationId: string | null
  /** The object of the action: `key:<id>`, `user:<id>`, `organization:<id>`, `dataset:<table>`. */
  subject: string
  /** Useful facts: names, permissions, amounts. Never a secret or a token. */
  detail?: Record<string, unknown>
  /**
   * Which organizations are told by webhook. By default the one of the event, or those for which the dataset exists;
   * the platform's webhooks always are.
   */
  audience?: Audience
}
