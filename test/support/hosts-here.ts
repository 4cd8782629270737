/** Requests to a platform's own hosts come to a server of this machine, as they would go out but for TLS. */
import { connect } from 'node:net'
import { pathToFileURL } from 'node:url'
import { Agent, type Dispatcher, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { projectFile } from '../../runtime/paths.ts'

export interface HostsHere {
  /** Connects to the platform's hosts here, and to others as before. */
  readonly agent: Dispatcher
  /** `NODE_OPTIONS` of a process whose requests to these hosts are to come here, too. */
  readonly nodeOptions: string
  /** In whatever order: the last one puts back what was before. */
  end(): void
}

interface Here {
  readonly origins: RegExp
  dispatch: Dispatcher['dispatch']
}

/** Those in force, and what was before the first: undici joins several `Set-Cookie` of an answer by commas where it is replaced. */
const inForce = new Set<Here>()
let before: Dispatcher | undefined

/** @param origins the platform's own. @param isAway nothing listens at its hosts */
export function hostsHere(origins: RegExp, url: string, isAway: () => boolean): HostsHere {
  const [here, nowhere] = [agentTo(Number(new URL(url).port)), agentTo(1)]
  const one: Here = {
    origins,
    dispatch: (options, handler) => (isAway() ? nowhere : here).dispatch(options, handler),
  }
  before ??= getGlobalDispatcher()
  inForce.add(one)
  const agent = before.compose((dispatch) => (options, handler) => {
    const found = [...inForce].findLast((each) => each.origins.test(String(options.origin)))
    return (found?.dispatch ?? dispatch)(options, handler)
  })
  setGlobalDispatcher(agent)
  return {
    agent,
    nodeOptions: nodeOptionsFor(origins, url),
    end() {
      inForce.delete(one)
      if (inForce.size > 0 || before === undefined) return
      setGlobalDispatcher(before)
      before = undefined
    },
  }
}

function agentTo(port: number): Dispatcher {
  return new Agent({
    connect: (_, done) => {
      const socket = connect(port, '127.0.0.1')
      const fail = (error: Error) => done(error, null)
      // A connection that breaks later is no failure to connect.
      socket.once('connect', () => done(null, socket.off('error', fail))).once('error', fail)
    },
  })
}

/** The same for another process, as a module that it loads first. */
function nodeOptionsFor(origins: RegExp, url: string): string {
  const undici = pathToFileURL(projectFile('node_modules/undici/index.js')).href
  const code = `import { connect } from 'node:net'
import undici from '${undici}'
const here = new undici.Agent({
  connect: (_, done) => {
    const socket = connect(${new URL(url).port}, '127.0.0.1')
    const fail = (error) => done(error, null)
    socket.once('connect', () => done(null, socket.off('error', fail))).once('error', fail)
  },
})
undici.setGlobalDispatcher(
  undici.getGlobalDispatcher().compose((dispatch) => (options, handler) =>
    ${origins}.test(String(options.origin)) ? here.dispatch(options, handler) : dispatch(options, handler)),
)`
  return `--import=data:text/javascript,${encodeURIComponent(code)}`
}
