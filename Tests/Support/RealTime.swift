import Glibc
public import Testing

extension Trait where Self == ConditionTrait {
  /// For a test that measures real time: how soon, how often, how long, or that nothing came in a while. A busy machine fails it without a
  /// defect, so it is no part of what a change must pass: `scripts/test --real-time` runs these alone.
  public static var realTime: Self {
    .enabled(if: getenv("TACTUS_REAL_TIME") != nil, "measures real time: scripts/test --real-time")
  }
}
