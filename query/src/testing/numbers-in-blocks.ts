import { IndexNumbers } from '@wayleave/geodata/testing'

/** Numbers in blocks of `2 ** shift`, of which one at a time is in memory. */
export function inBlocks(numbers: Uint32Array, shift: number): IndexNumbers<Uint32Array> {
  let held: { number: number; bytes: Buffer; numbers: null } | null = null
  const source = {
    peek: (number: number) => (held?.number === number ? held : undefined),
    async load(number: number) {
      const part = numbers.slice(number << shift, (number + 1) << shift)
      held = { number, bytes: Buffer.from(part.buffer), numbers: null }
      return held
    },
    leave() {},
  }
  const view = ({ buffer, byteOffset, length }: Buffer) => new Uint32Array(buffer, byteOffset, length / 4)
  return new IndexNumbers({ width: 1, shift }, [], source, view)
}
