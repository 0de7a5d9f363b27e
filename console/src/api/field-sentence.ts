import type { FieldError } from '@wayleave/contract/records'

/** The error of one field as a sentence; the service names the field by a JSON pointer. */
export function fieldSentence({ path, message }: FieldError): string {
  return withoutPointer(`${path}: ${message}.`)
}

/**
 * Replaces the JSON pointer at the start of a message by the name of the field: "/expiresAt: must be". A sentence of
 * its own stays as it is.
 */
export function withoutPointer(text: string): string {
  return text.replace(/^\/[^\s:]+: (?=\p{Lu})/u, '').replace(/^(\/[^\s:]+): /, (_, pointer: string) => {
    const name = pointer.split('/').findLast((part) => !/^\d*$/.test(part)) ?? ''
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return `${words.charAt(0).toUpperCase()}${words.slice(1)} `
  })
}
