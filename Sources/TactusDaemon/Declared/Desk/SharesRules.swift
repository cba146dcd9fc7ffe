import Service
import Tactus

/// Adopted by a system whose rules concern its desk besides its loop. A reload gives them to both or to neither.
public protocol SharesRules: Serves where Desk: RuledDesk, Desk.Rules == Rules {}

/// A desk to which a reload passes the rules.
public protocol RuledDesk: SystemDesk {
  /// The rules, which a reload may change.
  associatedtype Rules: Settings

  /// Applies the rules of a reload. Called on the desk's thread. Where the loop has rules, too, limits that are wider
  /// wait there for the safe state; the desk is given all of them at once.
  ///
  /// - Parameter done: a function to call when the rules are in effect, which may be later and on any thread.
  func take(_ rules: Rules, done: @escaping @Sendable () -> Void)
}

extension RuledDesk {
  /// Applies rules of this desk's system that are passed without their type.
  func takes(_ rules: any Settings, done: @escaping @Sendable () -> Void) {
    // The value is of this desk's system, passed without its type.
    take(rules as! Rules, done: done)
  }
}

/// A change of rules that concerns a loop and a desk: both take it, or neither.
struct SharedChange: RulesChange {
  let loop: any RulesChange
  let desk: DeskChange

  var system: String { loop.system }
  var keys: [KeyChange] { loop.keys }
  var isPrepared: Bool { loop.isPrepared && desk.isPrepared }

  func propose() {
    loop.propose()
    desk.propose()
  }

  func withdraw() {
    loop.withdraw()
    desk.withdraw()
  }

  func commit() {
    loop.commit()
    desk.commit()
  }

  var progress: RulesProgress { desk.progress == .waiting ? .waiting : loop.progress }
}
