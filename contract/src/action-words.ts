/** Kinds of events whose code does not read as a sentence. */
export const ACTION_WORDS: Readonly<Record<string, string>> = {
  'session.started': 'Signed in',
  'session.ended': 'Signed out',
  'session.switched': 'Switched the organization',
  'key.refused': 'Key was refused',
  'user.unlinked': 'Single sign-on unlinked',
  'dataset.described': 'Dataset description changed',
  'dataset.version-described': 'Note of a version changed',
  'dataset.version-deleted': 'Version deleted',
  'dataset.unpublished': 'Dataset removed',
  'dataset.drafted': 'Draft uploaded',
  'dataset.draft-discarded': 'Draft discarded',
  'dataset.access-given': 'Access to a dataset given',
  'dataset.access-ended': 'Access to a dataset ended',
  'organization.add-ons-changed': 'Add-ons changed',
  'organization.credit-limit-changed': 'Credit limit changed',
  'organization.publishing-allowed': 'Publishing allowed',
  'organization.publishing-ended': 'Publishing no longer allowed',
  'source.set': 'Source of a dataset set',
}

/** What happened, as people say it: “Key created” for `key.created`. */
export function actionWords(action: string): string {
  const words = action.replace(/[.-]/g, ' ')
  return ACTION_WORDS[action] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** Actors that are neither a user nor a key, as people call them. */
export const ACTOR_WORDS: Readonly<Record<string, string>> = {
  operator: 'The operator',
  system: 'The service',
}
