/** Patterns for the names of CRSs. */

export function isCrs84(text: string): boolean {
  return (
    /^(OGC|CRS):(1\.3:)?(CRS)?:?84h?$/i.test(text) ||
    /^(CRS)?84$|^WGS ?84$/i.test(text) ||
    /^urn:(x-)?ogc:def:crs:OGC:([\d.]*:)?CRS:?84h?$/i.test(text) ||
    /^https?:\/\/www\.opengis\.net\/def\/crs\/OGC\/([\d.]+\/)?CRS84h?$/i.test(text)
  )
}

/** OGC's other two geographic systems with longitude first: NAD27 and NAD83. */
const OGC_CODES: { [name: string]: number } = { '27': 4267, '83': 4269 }

/** The EPSG code of the system that is the same but for its order of axes, if the text denotes one of OGC's. */
export function ogcCode(crs: string): number | null {
  const text = crs.trim()
  const match =
    /^(?:OGC|CRS):(?:1\.3:)?(?:CRS)?(27|83)$/i.exec(text) ??
    /^urn:(?:x-)?ogc:def:crs:OGC:(?:[\d.]*:)?CRS(27|83)$/i.exec(text) ??
    /^https?:\/\/www\.opengis\.net\/def\/crs\/OGC\/(?:[\d.]+\/)?CRS(27|83)$/i.exec(text)
  return match && OGC_CODES[match[1]!]!
}

/** Whether the text names the two parts of a compound CRS. */
export function isCompoundName(crs: string): boolean {
  return /^(EPSG:+\d+\+\d+$|urn:ogc:def:crs,crs:|https?:\/\/www\.opengis\.net\/def\/crs-compound\?)/i.test(
    crs.trim(),
  )
}

/** The EPSG (or ESRI) code that the text denotes, whether or not it is in the list. */
export function codeOf(crs: string): number | null {
  const text = crs.trim()
  const ogc = ogcCode(text)
  if (ogc !== null) return ogc
  const match =
    // A compound CRS is named by two codes; the second is that of the height and is ignored.
    /^(?:EPSG|ESRI|SRID):+(\d+)(?:\+\d+)?$/i.exec(text) ??
    /^(\d{4,6})$/.exec(text) ??
    // The version is optional, and some writers omit its colon.
    /^urn:(?:x-)?ogc:def:crs:(?:EPSG|ESRI):(?:[^:]*:)?(\d+)$/i.exec(text) ??
    /^urn:ogc:def:crs,crs:EPSG:[^:]*:(\d+),/i.exec(text) ??
    /^https?:\/\/www\.opengis\.net\/def\/crs\/(?:EPSG|ESRI)\/(?:[^/]+\/)?(\d+)\/?$/i.exec(text) ??
    /^https?:\/\/www\.opengis\.net\/def\/crs-compound\?1=https?:\/\/www\.opengis\.net\/def\/crs\/EPSG\/[^/]+\/(\d+)(?:&|$)/i.exec(
      text,
    ) ??
    /^https?:\/\/www\.opengis\.net\/gml\/srs\/epsg\.xml#(\d+)$/i.exec(text) ??
    /^https?:\/\/(?:www\.)?(?:epsg\.io|spatialreference\.org\/ref\/(?:epsg|esri))\/(\d+)\/?$/i.exec(text) ??
    /^\+init=(?:epsg|esri):(\d+)\b/i.exec(text)
  return match ? Number(match[1]) : null
}
