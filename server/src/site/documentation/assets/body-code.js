// A JSON text as the body in code of each language. The service and the script of the reference use the same.

/**
 * @param {string} json
 * @returns {{ curl: string, python: string, javascript: string }}
 */
export function bodyCode(json) {
  return {
    // In single quotes of a POSIX shell.
    curl: json.replaceAll("'", "'\\''"),
    python: pythonValue(json),
    javascript: json.replaceAll('\n', '\n  '),
  }
}

/** JSON is Python but for three words. A line never begins inside of a text. */
function pythonValue(json) {
  return json
    .replaceAll(/("(?:[^"\\]|\\.)*")|\b(true|false|null)\b/g, (_, text, word) =>
      word === undefined ? text : { true: 'True', false: 'False', null: 'None' }[word],
    )
    .replaceAll(/^ +/gm, (indent) => indent + indent)
    .replaceAll('\n', '\n    ')
}
