/**
 * The functions of SQLite that a view may use: those that only compute a value from their arguments. All others
 * are refused, also those of later versions.
 */
export const PURE_FUNCTIONS: ReadonlySet<string> = new Set(
  `abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh count
  cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor
  format glob group_concat hex if ifnull iif instr json json_array json_array_length json_each json_extract
  json_group_array json_group_object json_insert json_object json_patch json_quote json_remove json_replace
  json_set json_tree json_type json_valid julianday lag last_value lead length like likelihood likely ln log
  log10 log2 lower ltrim max median min mod nth_value ntile nullif octet_length percent_rank percentile
  percentile_cont percentile_disc pi pow power printf quote radians random rank replace round row_number rtrim
  sign sin sinh sqrt strftime string_agg substr substring subtype sum tan tanh time timediff total trim trunc
  typeof unhex unicode unistr unixepoch unlikely upper zeroblob -> ->>`.split(/\s+/),
)
