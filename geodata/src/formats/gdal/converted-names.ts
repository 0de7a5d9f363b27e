/** Names in the converted file that no column of a source has. GDAL's own are fid and geom, which some have. */
export const FID_COLUMN = 'wayleave converted fid'
export const GEOMETRY_COLUMN = 'wayleave converted geometry'
