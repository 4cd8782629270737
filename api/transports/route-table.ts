/** Which operation a method and a path name: literal segments before parameters, the methods of a path together. */
import type { Operation } from '../operations/define.ts'

interface Match {
  /** By method; GET answers HEAD too. */
  readonly operations: ReadonlyMap<string, Operation>
  /** The path's parameters, decoded where they can be. */
  readonly path: Readonly<Record<string, string>>
}

interface Node {
  readonly literals: Map<string, Node>
  parameter?: { name: string; node: Node }
  readonly operations: Map<string, Operation>
}

export interface RouteTable {
  find(path: string): Match | undefined
}

export function makeRouteTable(operations: readonly Operation[]): RouteTable {
  const root = makeNode()
  for (const operation of operations) {
    const { method, path } = operation.http
    const node = path.split('/').slice(1).reduce(addSegment, root)
    if (node.operations.has(method)) throw new Error(`two operations are ${method} ${path}`)
    node.operations.set(method, operation)
    if (method === 'GET') node.operations.set('HEAD', operation)
  }
  return {
    find(path) {
      return walk(root, path.split('/').slice(1).map(decode), {})
    },
  }
}

function makeNode(): Node {
  return { literals: new Map(), operations: new Map() }
}

function addSegment(node: Node, segment: string): Node {
  const name = /^\{(\w+)\}$/.exec(segment)?.[1]
  if (name === undefined) {
    const next = node.literals.get(segment) ?? makeNode()
    node.literals.set(segment, next)
    return next
  }
  node.parameter ??= { name, node: makeNode() }
  if (node.parameter.name !== name) throw new Error(`one parameter is called {${node.parameter.name}} and {${name}}`)
  return node.parameter.node
}

function walk(node: Node, segments: readonly string[], path: Record<string, string>): Match | undefined {
  const [segment, ...rest] = segments
  if (segment === undefined) return node.operations.size > 0 ? { operations: node.operations, path } : undefined
  const literal = node.literals.get(segment)
  const found = literal && walk(literal, rest, path)
  if (found || !node.parameter || segment === '') return found
  return walk(node.parameter.node, rest, { ...path, [node.parameter.name]: segment })
}

/** Undecodable text stays as it was sent: as a parameter it is invalid, and no route has such a name. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
