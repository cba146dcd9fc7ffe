public import WallTime

/// A copy of the store as it was at that time: an SQLite file of its own.
public struct Snapshot: Sendable, Hashable {
  /// Path of the file, in the folder `STORE.snapshots`.
  public let path: String
  /// 1…; later ones have higher numbers, whatever the clock said.
  public let number: Int
  /// When it was made, as the wall clock said then; to the second.
  public let made: WallInstant

  /// `000042-20260203T040506Z.sqlite`
  static func name(_ number: Int, _ made: WallInstant) -> String {
    let digits = String(number)
    return "\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits)-\(made.nameText).sqlite"
  }

  /// Nil: it has another name than snapshots have.
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
