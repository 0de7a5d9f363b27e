/** Files of rows that were copied from PostgreSQL. */
export {
  type PgcopyColumn,
  type PgcopyHeader,
  type PgcopyKind,
  pgcopyHeader,
} from '../formats/pgcopy/pgcopy-header.ts'
