/** Passes a file to the browser, which saves it like any download. */
export function saveFile(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the object URL only after the click event has ended.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
