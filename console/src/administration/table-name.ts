/** Derives a table name from a file name: lower-case letters, digits and _. */
export function tableNameOf(file: string): string {
  return file
    .replace(/(\.[a-z0-9]{1,10}){1,2}$/i, '')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '')
    .slice(0, 63)
}
