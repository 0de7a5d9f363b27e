/**
 * Stores what PROJ computes for every code of the list and for the text forms of some, with which the tests
 * compare our own results. Needs WAYLEAVE_TEST_PYTHON, a Python with pyproj. Takes about a minute.
 */
import { storeProjResults } from '../src/crs/testing/proj-results.ts'

const python = process.env['WAYLEAVE_TEST_PYTHON']
if (!python) throw new Error('WAYLEAVE_TEST_PYTHON must name a Python with pyproj.')
await storeProjResults(python)
