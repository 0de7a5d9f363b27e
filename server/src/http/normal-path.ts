/** Normalizes the path as the router does, because one URL can be written in many ways. */
export function normalPath(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0]!
  return decoded(path).replace(/(?<=.)\/$/, '')
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
