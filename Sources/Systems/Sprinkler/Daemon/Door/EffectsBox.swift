import Sprinkler
import Synchronization

/// Effects on their way out of a continuation's body.
final class EffectsBox: Sendable {
  private let stored = Mutex(SprinklerEffects())
  func set(_ effects: SprinklerEffects) { stored.withLock { $0 = effects } }
  var effects: SprinklerEffects { stored.withLock { $0 } }
}

/// Notices, the same way.
final class NoticesBox: Sendable {
  private let stored = Mutex<[SprinklerNotice]>([])
  func set(_ notices: [SprinklerNotice]) { stored.withLock { $0 = notices } }
  var notices: [SprinklerNotice] { stored.withLock { $0 } }
}
