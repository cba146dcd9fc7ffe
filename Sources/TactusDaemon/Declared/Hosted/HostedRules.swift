import Synchronization
import Tactus

/// The rules of a declared system in the form of the file; its loop receives them in the form of `loopRules`. Safe to
/// use from any thread.
final class HostedRules<System: DeviceSystem>: Sendable {
  private struct Commit {
    var change: any RulesChange
    var now: System.Rules
    /// The rules that apply from the safe state on, or `nil` if the whole change takes effect immediately.
    var whenSafe: System.Rules?
    /// The rules that were in effect when the change was committed.
    var before: System.Rules
  }

  private struct State {
    /// The rules that were requested last.
    var wanted: System.Rules
    /// The rules of the file that took effect last.
    var inFile: System.Rules
    /// The newest change, or `nil` if there was none since the start.
    var last: Commit?
  }

  let wiring: System.Wiring
  private let loop: WantedRules<System.LoopRules>
  private let state: Mutex<State>

  /// Creates the rules of a system at its start.
  ///
  /// - Parameters:
  ///   - rules: the rules with which the loop begins.
  ///   - file: the rules in the file.
  ///   - box: the box that passes rules to the loop, with the initial rules in the loop's form.
  init(
    _ wiring: System.Wiring, from rules: System.Rules, inFile file: System.Rules, _ box: RulesBox<System.LoopRules>
  ) {
    self.wiring = wiring
    loop = WantedRules(box)
    state = Mutex(State(wanted: rules, inFile: file))
  }

  /// The requested rules. The rules that the loop uses may be stricter while wider limits wait for the safe state.
  var rules: System.Rules { state.withLock { $0.wanted } }

  /// The rules of the file that took effect last.
  var inFile: System.Rules { state.withLock { $0.inFile } }

  /// The rules that the loop uses now.
  var inEffect: System.Rules { state.withLock { Self.inEffect($0) } }

  /// Replaces the rules of a system without a loop.
  ///
  /// - Parameter file: the rules of the file that the change comes from, or `nil` if a client has set them.
  func replace(with rules: System.Rules, inFile file: System.Rules? = nil) {
    state.withLock { ($0.wanted, $0.inFile) = (rules, file ?? $0.inFile) }
  }

  private static func inEffect(_ state: State) -> System.Rules {
    guard let last = state.last else { return state.wanted }
    return switch last.change.progress {
    case .waiting: last.before
    case .takenInPart: last.now
    case .taken: last.whenSafe ?? last.now
    }
  }

  /// Returns a change of the rules.
  ///
  /// - Parameters:
  ///   - now: the rules that take effect immediately.
  ///   - whenSafe: the rules that take effect in the safe state, or `nil` if they equal `now`.
  ///   - file: the rules of the file that the change comes from, or `nil` if a client has set them.
  ///   - desk: the change of the desk, which takes the rules if the loop does, or `nil` if the desk takes none.
  func change(
    of system: String, _ keys: [KeyChange], now: System.Rules, whenSafe: System.Rules?,
    inFile file: System.Rules? = nil, desk: DeskChange? = nil
  ) -> any RulesChange {
    let change = loop.change(
      of: system, keys, now: System.loopRules(wiring, now), whenSafe: whenSafe.map { System.loopRules(wiring, $0) })
    return Change(change: change, desk: desk, rules: self, now: now, whenSafe: whenSafe, file: file)
  }

  private struct Change: RulesChange {
    let change: any RulesChange
    let desk: DeskChange?
    let rules: HostedRules
    let now: System.Rules
    let whenSafe: System.Rules?
    let file: System.Rules?

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
        (state.wanted, state.last) = (whenSafe ?? now, last)
        // The rules of the file change only here, since another system may have refused the reload.
        if let file { state.inFile = file }
      }
      desk?.commit()
    }

    var progress: RulesProgress { desk?.progress == .waiting ? .waiting : change.progress }
  }
}

/// The rules of a declared system's loop that another program runs directly, with the defaults of the wiring. Changes
/// work as for a reload in a daemon.
package struct PlayedRules<System: DeviceSystem> {
  private let hosted: HostedRules<System>

  /// Creates the rules.
  ///
  /// - Parameter box: the box that passes rules to the loop, with these rules in the form of `loopRules`.
  package init(_ rules: System.Rules, in box: RulesBox<System.LoopRules>) {
    hosted = HostedRules(System.Wiring(), from: rules, inFile: rules, box)
  }

  /// Returns the change to the given rules, or `nil` if the rules are the same.
  package func change(to rules: System.Rules) -> (any RulesChange)? {
    HostedSystem<System>.change(hosted, to: rules)
  }
}
