import { type Static, Type } from 'typebox'
import { START_SECTIONS, TITLED_SECTIONS, type TitledSection } from '../start-sections.ts'
import { nullable, oneOf } from './schema-parts.ts'

const siteSchema = Type.Object({
  title: Type.String(),
  description: Type.String(),
  /** The large line on the start page. */
  headline: Type.String(),
  audience: nullable(Type.String()),
  /** The table of the dataset in the picture of the start page; null for the service's choice, `none` for no picture. */
  startMap: nullable(Type.String()),
  startSections: Type.Array(oneOf(START_SECTIONS)),
  startText: nullable(Type.String()),
  /** Titles of sections in the place of the usual ones. */
  startTitles: Type.Unsafe<Partial<Record<TitledSection, string>>>(
    Type.Record(oneOf(TITLED_SECTIONS), Type.String()),
  ),
  /** The links below the search, as texts with their addresses. */
  startLinks: Type.Record(Type.String(), Type.String()),
  /** What the sections `key` and `developers` say, in Markdown; null for the usual texts. */
  startKey: nullable(Type.String()),
  startDevelopers: nullable(Type.String()),
  /** The tables of the datasets that the start page shows. */
  featured: Type.Array(Type.String()),
  /** The address of the logo; null for the service's own icon. */
  logo: nullable(Type.String()),
  contact: nullable(Type.Object({ name: nullable(Type.String()), url: nullable(Type.String()) })),
  termsUrl: nullable(Type.String()),
  privacyUrl: nullable(Type.String()),
  imprintUrl: nullable(Type.String()),
  /** The address that signs in as the administrator of a demo; null for any other service. */
  demoAdministrator: nullable(Type.String()),
  /** Whether the console can show the links of mails: in a demo on loopback. */
  showsMails: Type.Boolean(),
  /** Whether credits and plans can be bought. */
  sells: Type.Boolean(),
  /** How users sign in: by mailed links, by single sign-on, or as they choose. */
  signIn: oneOf(['link', 'oidc', 'both']),
})

/** What the operator says about the service; it is in the head of every console page. */
export type Site = Static<typeof siteSchema>
