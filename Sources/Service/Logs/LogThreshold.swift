import Logging
import Synchronization

/// The least severe level that is logged, for all loggers at once. Usable from any thread.
public final class LogThreshold: Sendable {
  private let index: Atomic<Int>

  /// Makes a threshold.
  ///
  /// - Parameter level: the least severe level that is logged.
  public init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

  /// The least severe level that is logged. A change takes effect with the next line, except for loggers with a level of their own.
  public var level: Logger.Level {
    get { Logger.Level.allCases[index.load(ordering: .relaxed)] }
    set { index.store(Self.index(of: newValue), ordering: .relaxed) }
  }

  private static func index(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level)! }
}
