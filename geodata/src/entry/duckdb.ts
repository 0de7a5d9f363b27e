/** DuckDB alone, for a process that runs queries and nothing else, so that it starts quickly. */
export { openDuckDb } from '../open-duckdb.ts'
