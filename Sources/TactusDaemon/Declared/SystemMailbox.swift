import Service
import Tactus

/// A system's mailboxes: orders to its loop and their answers, what it tells, its state, its rules.
public final class SystemMailbox<
  Order: BitwiseCopyable & Sendable, Refusal: RefusalWord, Notice: BitwiseCopyable & Sendable,
  State: BitwiseCopyable & Sendable, Rules: BitwiseCopyable & Sendable
> {
  /// What the loop holds of them.
  public typealias Ends = LoopEnds<Order, Refusal, Notice, State, Rules>

  let loops: LoopMailbox<Order, Refusal, Notice, State, Rules>
  /// Rung when there are answers or notices to take.
  private let bell: DoorbellButton?
  private let stall: LaneStall.Served?
  private let isSimulated: Bool
  private let instance: String?
  /// The state before the first tick: `initialState`, with what was kept over the restart.
  public let initialState: State
  /// Of the loop that has the mailboxes, or `nil` if no loop took them.
  private(set) var loopName: String?
  private(set) var rate: Rate?

  init(
    _ loops: LoopMailbox<Order, Refusal, Notice, State, Rules>, bell: DoorbellButton?, stall: LaneStall?,
    isSimulated: Bool, instance: String?
  ) {
    self.loops = loops
    self.instance = instance
    var reader = loops.state.reader()
    initialState = reader.read().state
    self.bell = bell
    self.stall = stall?.served
    self.isSimulated = isSimulated
  }

  /// The declaration of the loop that owns these mailboxes, which is released by its period and by every order. Once.
  ///
  /// - Parameters:
  ///   - name: unique in the program: `fan`.
  ///   - rate: how often it is released.
  ///   - safeStateAfter: consecutive misses after which its safe state is entered, 1….
  ///   - inputs: what also releases it.
  ///   - body: makes the loop of its mailboxes.
  public func loop<Body: ControlLoop & ~Copyable>(
    _ name: String, every rate: Rate, late: LatePolicy = .skip, safeStateAfter: Int, inputs: [LoopInput] = [],
    ages: [DataAge] = [], body: (consuming Ends) -> Body
  ) -> Loop {
    precondition(loopName == nil, "\(name): a system's mailboxes belong to one loop")
    let name = instance.map { "\(name)/\($0)" } ?? name
    loopName = name
    self.rate = rate
    return Loop(
      name, every: rate, late: late, safeStateAfter: safeStateAfter,
      counting: isSimulated ? .injected(stall) : .all, inputs: [loops.loopInput] + inputs, ages: ages
    ) {
      body(loops.loopEnds(bell: bell, stall: stall))
    }
  }
}
