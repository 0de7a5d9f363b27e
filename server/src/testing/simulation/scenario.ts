import fc from 'fast-check'
import type { Link, SimulatedDatabase } from './simulated-database.ts'
import { Machine, type World } from './world.ts'

/** A machine stands still; nothing passes its link; its connections end; its process dies. */
type FaultKind = 'pause' | 'cut' | 'reset' | 'crash'

export interface Scenario {
  seed: number
  /** How fast the clock of each node runs, in thousandths of the speed of the database's clock. */
  rates: number[]
  /** Where the clock of each node starts. */
  offsets: number[]
  faults: { at: number; node: number; kind: FaultKind; milliseconds: number }[]
}

export interface ScenarioLimits {
  nodes: number
  durationMs: number
  maxFaults: number
  maxFaultMs: number
}

export function anyScenario({
  nodes,
  durationMs,
  maxFaults,
  maxFaultMs,
}: ScenarioLimits): fc.Arbitrary<Scenario> {
  const fault = fc.record({
    at: fc.nat(durationMs),
    node: fc.nat(nodes - 1),
    kind: fc.constantFrom<FaultKind>('pause', 'cut', 'reset', 'crash'),
    milliseconds: fc.nat(maxFaultMs),
  })
  const ofEachNode = (value: fc.Arbitrary<number>) => fc.array(value, { minLength: nodes, maxLength: nodes })
  return fc.record({
    seed: fc.nat(),
    rates: ofEachNode(fc.integer({ min: 950, max: 1050 })),
    offsets: ofEachNode(fc.nat(1_000_000_000)),
    faults: fc.array(fault, { maxLength: maxFaults }),
  })
}

export interface SimulatedNode {
  machine: Machine
  link: Link
}

/**
 * Nodes that are started, broken as a scenario says, and started again when they have died. `start` begins what
 * runs on a node, and calls `onOutage` if the node could not begin because the database was unreachable.
 */
export class SimulatedNodes<N extends SimulatedNode> {
  readonly nodes: N[]
  readonly #world: World
  readonly #database: SimulatedDatabase
  readonly #scenario: Scenario
  readonly #start: (node: SimulatedNode, index: number, onOutage: () => void) => N

  constructor(
    world: World,
    database: SimulatedDatabase,
    scenario: Scenario,
    start: (node: SimulatedNode, index: number, onOutage: () => void) => N,
  ) {
    this.#world = world
    this.#database = database
    this.#scenario = scenario
    this.#start = start
    this.nodes = scenario.rates.map((_, index) => this.#open(index))
    for (const fault of scenario.faults) world.after(fault.at, () => this.#break(fault))
  }

  #open(index: number): N {
    const { rates, offsets } = this.#scenario
    const machine = new Machine(this.#world, { rate: rates[index]! / 1000, offset: offsets[index]! })
    const link = this.#database.connect(machine)
    return this.#start({ machine, link }, index, () => this.#restart(index, machine, 500))
  }

  #break({ node: index, kind, milliseconds }: Scenario['faults'][number]): void {
    const { machine, link } = this.nodes[index]!
    if (kind === 'pause') machine.pause(milliseconds)
    if (kind === 'cut') link.cut(milliseconds)
    if (kind === 'reset') link.reset()
    if (kind === 'crash') this.#restart(index, machine, milliseconds)
  }

  #restart(index: number, machine: Machine, milliseconds: number): void {
    machine.kill()
    this.#world.after(milliseconds, () => {
      if (this.nodes[index]!.machine === machine) this.nodes[index] = this.#open(index)
    })
  }
}
