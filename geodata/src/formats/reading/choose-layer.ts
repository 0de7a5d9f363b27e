import { SourceError } from '../../source-error.ts'

/** The layer with that name or, without a name, the only one. Otherwise throws and lists the layers. */
export function chooseLayer<T extends { name: string }>(
  layers: T[],
  name: string | undefined,
  file: string,
): T {
  const list = layers.map((layer) => layer.name).join(', ')
  if (layers.length === 0) throw new SourceError(`${file} has no layer with features or rows.`)
  if (name === undefined) {
    if (layers.length === 1) return layers[0]!
    throw new SourceError(`${file} has ${layers.length} layers: ${list}. Choose one with --layer.`)
  }
  const chosen =
    layers.find((layer) => layer.name === name) ??
    layers.find((layer) => layer.name.toLowerCase() === name.toLowerCase())
  if (!chosen) throw new SourceError(`${file} has no layer ${name}; it has ${list}.`)
  return chosen
}
