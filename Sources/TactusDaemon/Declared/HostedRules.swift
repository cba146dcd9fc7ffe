import Synchronization
import Tactus

/// The rules of a declared system as the file has them; its loop gets what `loopRules` makes of them. Any thread.
final class HostedRules<System: DeviceSystem>: Sendable {
  private struct Commit {
    var change: any RulesChange
    var now: System.Rules
    /// `nil` if all of it is taken at once.
    var whenSafe: System.Rules?
    /// What was in effect when it was committed.
    var before: System.Rules
  }

  private struct State {
    /// The newest that was asked for.
    var wanted: System.Rules
    /// The newest change, or `nil` if there was none since the start.
    var last: Commit?
  }

  let wiring: System.Wiring
  private let loop: WantedRules<System.LoopRules>
  private let state: Mutex<State>

  /// - Parameter box: the rules that the loop begins with.
  init(_ configured: ConfiguredSystem<System>, _ box: RulesBox<System.LoopRules>) {
    wiring = configured.wiring
    loop = WantedRules(box)
    state = Mutex(State(wanted: configured.rules))
  }

  /// As wanted; what the loop uses may be less, while wider limits wait.
  var rules: System.Rules { state.withLock { $0.wanted } }

  /// What the loop uses now.
  var inEffect: System.Rules { state.withLock { Self.inEffect($0) } }

  private static func inEffect(_ state: State) -> System.Rules {
    guard let last = state.last else { return state.wanted }
    return switch last.change.progress {
    case .waiting: last.before
    case .takenInPart: last.now
    case .taken: last.whenSafe ?? last.now
    }
  }

  /// - Parameters:
  ///   - now: taken at once.
  ///   - whenSafe: the rules from the safe state on, or `nil` if they are `now`.
  func change(
    of system: String, _ keys: [KeyChange], now: System.Rules, whenSafe: System.Rules?
  ) -> any RulesChange {
    let change = loop.change(
      of: system, keys, now: System.loopRules(wiring, now), whenSafe: whenSafe.map { System.loopRules(wiring, $0) })
    return Change(change: change, rules: self, now: now, whenSafe: whenSafe)
  }

  private struct Change: RulesChange {
    let change: any RulesChange
    let rules: HostedRules
    let now: System.Rules
    let whenSafe: System.Rules?

    var system: String { change.system }
    var keys: [KeyChange] { change.keys }
    func propose() { change.propose() }
    var isPrepared: Bool { change.isPrepared }
    func withdraw() { change.withdraw() }

    func commit() {
      let before = rules.inEffect
      change.commit()
      rules.state.withLock { state in
        let last = Commit(change: change, now: now, whenSafe: whenSafe, before: before)
        state = State(wanted: whenSafe ?? now, last: last)
      }
    }

    var progress: RulesProgress { change.progress }
  }
}
