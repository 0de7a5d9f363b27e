/**
 * Reads a list of names that are separated by commas. A JSON array of strings is for names that contain commas
 * themselves: `["size, in m²","kind"]`.
 */
export function readNameList(text: string): string[] {
  if (/^\s*\[.*\]\s*$/s.test(text)) {
    try {
      const list = JSON.parse(text) as unknown[]
      if (list.every((name) => typeof name === 'string')) return list
    } catch {
      // A name may begin with a bracket; the list is then separated by commas like any other.
    }
  }
  return text.split(',')
}
