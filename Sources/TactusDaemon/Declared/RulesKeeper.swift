import Tactus

/// The daemon's side of the rules of one loop.
final class RulesKeeper<Rules: Settings & BitwiseCopyable> {
  private let box: RulesBox<Rules>

  init(_ box: RulesBox<Rules>) { self.box = box }
}
