/**
 * The datum shift of a bound CRS as seven position vector parameters (metres, arc-seconds, ppm), or null if
 * its method has no such parameters. In an abridged transformation the units are fixed: metres, arc-seconds,
 * and for the scale a factor near 1 (WKT 2) or parts per million.
 */
export function statedShift(method: string, parameters: Map<string, number>): number[] | null {
  if (!/geocentric translation|position vector|coordinate frame/i.test(method)) return null
  const value = (name: string) => parameters.get(name) ?? 0
  const translation = ['xaxistranslation', 'yaxistranslation', 'zaxistranslation'].map(value)
  if (/geocentric translation/i.test(method)) return translation
  const sign = /coordinate frame/i.test(method) ? -1 : 1
  const rotation = ['xaxisrotation', 'yaxisrotation', 'zaxisrotation'].map((name) => sign * value(name))
  const scale = value('scaledifference')
  return [...translation, ...rotation, Math.abs(scale - 1) < 0.01 ? (scale - 1) * 1e6 : scale]
}
