@_spi(FromOutside) import Conversions
public import WallTime

/// A copy of the store at an instant, in a separate SQLite file.
public struct Snapshot: Sendable, Hashable {
  /// The path of the file, in the folder `STORE.snapshots`.
  public let path: String
  /// The number of the snapshot, from 1. Later snapshots have higher numbers, whatever the clock said.
  public let number: Int
  /// The instant at which the snapshot was made by the wall clock, to the second.
  public let made: WallInstant

  /// Returns the name of a snapshot's file, such as `000042-20260203T040506Z.sqlite`.
  static func name(_ number: Int, _ made: WallInstant) -> String {
    let digits = String(number)
    return "\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits)-\(made.nameText).sqlite"
  }

  /// Parses the name of a file. The result is `nil` if it is not that of a snapshot.
  init?(folder: String, name: String) {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasSuffix(".sqlite"), let number = Int(parts[0]), number > 0,
      let made = WallInstant(nameText: parts[1].dropLast(".sqlite".count)), name == Self.name(number, made)
    else { return nil }
    path = "\(folder)/\(name)"
    self.number = number
    self.made = made
  }
}
