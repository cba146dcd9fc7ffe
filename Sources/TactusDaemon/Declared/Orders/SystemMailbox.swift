import Logging
import Service
import Tactus

/// The mailboxes of a system: orders to its loop and the answers, notices, the published state, and the rules.
public final class SystemMailbox<System: DeviceSystem> {
  /// The loop's ends of the mailboxes.
  public typealias Ends = System.Ends
  /// The state that the loop publishes.
  public typealias State = System.State

  let loops: HostedDoor<System>.Loops
  /// The bell that is rung when there are answers or notices to take.
  private let bell: DoorbellButton?
  private let stall: LaneStall.Served?
  private let counting: CountedMisses
  private let isPlanned: Bool
  private let instance: String?
  /// The state before the first tick: `initialState`, with the values that were kept over the restart.
  public let initialState: State
  /// The name of the loop that owns the mailboxes, or `nil` if no loop has taken them.
  private(set) var loopName: String?
  private(set) var rate: Rate?
  private(set) var report: ((Published<State>, Logger) -> Void)?
  private(set) var farewell: ((Published<State>) throws -> Bool)?
  /// The errors that `loops` has made in its use of the mailboxes, each with what to write instead.
  private(set) var flaws: [String] = []
  /// The advice if `loops` has made no loop that takes the orders; empty if it has.
  var lack: [String] {
    loopName == nil ? ["no loop has the mailboxes: expected one by mailbox.loop(…) among `loops`, or WithoutLoops"] : []
  }

  init(
    _ loops: HostedDoor<System>.Loops, bell: DoorbellButton?, stall: LaneStall?,
    counting: CountedMisses, instance: String?, isPlanned: Bool = false
  ) {
    self.loops = loops
    self.instance = instance
    var reader = loops.state.reader()
    initialState = reader.read().state
    self.bell = bell
    self.stall = stall?.served
    (self.counting, self.isPlanned) = (counting, isPlanned)
  }

  /// Sets a function that logs facts which are not visible elsewhere. It is called once a second on the main thread with the state that the loop last
  /// published. The function may be called once.
  public func eachSecond(_ report: @escaping (_ newest: Published<State>, _ logger: Logger) -> Void) {
    if self.report != nil {
      flaws.append("mailbox.eachSecond is called twice: expected one call, for all that it logs")
    }
    self.report = report
  }

  /// Sets a function that gives a slow actuator further commands after the loop has ended. It is called on the main thread when the loops have ended
  /// and the outputs are not known to be safe, and may block for some seconds. The function may be called once.
  ///
  /// - Parameter say: returns whether the outputs are safe now.
  public func lastWords(_ say: @escaping (_ last: Published<State>) throws -> Bool) {
    if farewell != nil { flaws.append("mailbox.lastWords is called twice: expected one call, for every output") }
    farewell = say
  }

  /// Declares the loop that owns these mailboxes. The loop is released by its period and by every order. The function may be called once.
  ///
  /// - Parameters:
  ///   - name: the name of the loop, unique in the program: `fan`.
  ///   - rate: the rate of the loop.
  ///   - safeStateAfter: the number of consecutive missed ticks after which the loop's safe state is entered, at least
  ///     1.
  ///   - inputs: the inputs that also release the loop.
  ///   - interval: the minimum time between two releases by an input.
  ///   - body: makes the loop from its ends of the mailboxes.
  public func loop<Body: ControlLoop & ~Copyable>(
    _ name: String, every rate: Rate, late: LatePolicy = .skip, safeStateAfter: Int, inputs: [LoopInput] = [],
    minimumInterval interval: Nanoseconds = .milliseconds(1), ages: [DataAge] = [], body: (consuming Ends) -> Body
  ) -> Loop {
    if let loopName {
      flaws.append("\(name): \(loopName) has the mailboxes already: expected Loop(…) for each loop but one")
    }
    let name = instance.map { "\(name)/\($0)" } ?? name
    loopName = name
    self.rate = rate
    // The file has not been checked for double claims yet, such as two owners of a channel, so no loop is made from its values.
    if isPlanned { return Loop(name, every: rate) { PlannedLoop() } }
    return Loop(
      name, every: rate, late: late, safeStateAfter: safeStateAfter, counting: counting,
      inputs: (System.Order.self == NoOrder.self ? [] : [loops.loopInput]) + inputs, minimumInterval: interval,
      ages: ages
    ) {
      body(loops.loopEnds(bell: bell, stall: stall))
    }
  }
}

/// The loop of a bench that only plans, which is never run: no loop may be made of values that have not been checked yet.
private struct PlannedLoop: ~Copyable, ControlLoop, NoOutput {
  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {}
}

/// The sizes of the mailboxes between a loop and its clients.
public struct MailboxShape: Sendable {
  let requestsPerTick: Int
  let answers: Int?
  let notices: Int
  let patience: Nanoseconds

  /// Creates the sizes; every system has the defaults unless its `ShapesLane` says others.
  ///
  /// - Parameters:
  ///   - requestsPerTick: the number of requests that may wait, which is also the number that a tick may take; at least
  ///     32, of which 16 are reserved for stops.
  ///   - answers: the number of answers that may wait to be read; unless given four times as many as requests.
  ///   - notices: the number of notices that may wait to be read, at least 1.
  ///   - patience: the maximum age of a request that the loop accepts; less than the second for which a client waits, so
  ///     that a request which its client has given up has no effect.
  public init(
    requestsPerTick: Int = 64, answers: Int? = nil, notices: Int = 256, patience: Nanoseconds = .milliseconds(250)
  ) {
    declared(requestsPerTick >= 32 && notices >= 1, "a loop has room for requests besides stops, and for a notice")
    declared(patience >= .zero && patience < .seconds(1), "a loop's patience is less than that of a client")
    (self.requestsPerTick, self.answers, self.notices, self.patience) = (requestsPerTick, answers, notices, patience)
  }
}

extension HostedDoor {
  /// Makes the mailboxes of a loop in the sizes that the system declares.
  ///
  /// - Throws: `RuntimeError.system` if the process or the machine has no free descriptor.
  static func mailboxes(
    state: System.State, rules: System.LoopRules, takesRequests: Bool = true
  ) throws(RuntimeError) -> Loops {
    let shape = (System.self as? any ShapesLane.Type)?.mailbox ?? MailboxShape()
    return try Loops(
      state: state, rules: rules, requestsPerTick: shape.requestsPerTick, answers: shape.answers,
      notices: shape.notices, patience: shape.patience, takesRequests: takesRequests)
  }
}
