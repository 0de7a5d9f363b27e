/** Some libraries write formulas without their results, which only a spreadsheet program computes. */
export function formulaNotes(count: number): string[] {
  if (count === 0) return []
  const formulas = count === 1 ? '1 formula has' : `${count} formulas have`
  return [
    `${formulas} no stored result: published as null. Open the file in a spreadsheet program and save it there, which stores the results.`,
  ]
}
