import Store
import Synchronization

/// The log's CSV on its way out, one piece after another.
final class CSVLines: Sendable {
  private let lines: Mutex<WateringLogCSV>

  init(_ lines: WateringLogCSV) { self.lines = Mutex(lines) }

  /// nil: that was all.
  func next() throws -> [UInt8]? { try lines.withLock { try $0.next() }.map { Array($0.utf8) } }
}
