import Glibc
import Service

/// The flaws of a declaration, each with what to write instead: an error of `check` and of the start.
struct Misdeclared: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Throws the flaws if there are any.
  static func check(_ flaws: [String]) throws(Misdeclared) {
    if !flaws.isEmpty { throw Misdeclared(flaws.joined(separator: "; ")) }
  }
}

/// Ends the program with a sentence if a part of a declaration is invalid, before anything runs. Unlike the text of a failed precondition, the
/// sentence is printed in every build.
func declared(_ holds: Bool, _ flaw: @autoclosure () -> String) {
  if !holds { misdeclared(flaw()) }
}

/// Ends the program because of a declaration, as `declared` does.
func misdeclared(_ flaw: String) -> Never {
  complain("the declaration of a system: \(flaw)")
  exit(70)
}

extension DeviceSystem {
  /// The parts of the declaration that would silently have no effect, each with what to write instead.
  static var flaws: [String] {
    let paths = commands.map(\.path)
    var flaws = paths.indices.filter { paths[..<$0].contains(paths[$0]) }.map { index in
      "two commands are called \(paths[index]): expected a name for each"
    }
    flaws += kept(Wiring.self).map { "\($0) is no rule, which no client can set: expected it in Rules, or no .kept" }
    flaws += Rules.keys.flatMap { key in
      (key.items?.kept ?? []).map { "\(key.name)[].\($0) belongs to a list, which is not kept: expected no .kept" }
    }
    flaws += ((self as? any Sees.Type)?.keptSeen ?? []).map { name in
      "\(name) is shown, and the state is kept: expected .kept at a field of `fields`"
    }
    flaws += texts(Wiring.self, of: [.text, .textOrNothing, .texts]).filter { SecretNames.isSecret($0.utf8) }.map {
      "\($0) reads like a secret, which a log would show: expected the type Secret?"
    }
    flaws += texts(Rules.self, of: [.text, .textOrNothing, .texts]).filter { SecretNames.isSecret($0.utf8) }.map {
      "\($0) reads like a secret, which clients would see: expected it in Wiring, with the type Secret?"
    }
    flaws += texts(Rules.self, of: [.secret, .secretFile, .file, .folder, .host]).map {
      "\($0) is fixed when the program is confined, and rules may change: expected it in Wiring"
    }
    let fields = fields.filter(\.isKept).map(\.shape.name)
    if self is any KeepsOwn.Type {
      flaws += (fields + kept(Rules.self)).map { "\($0): expected it in the system's own tables (KeepsOwn), not .kept" }
    } else if !(self is any Resumes.Type) {
      flaws += fields.map { "\($0): nothing gives it back: expected Resumes, or no .kept" }
    }
    return flaws
  }

  /// Returns the names of the keys of these kinds.
  private static func texts<Group: Settings>(_: Group.Type, of kinds: [ConfigKind]) -> [String] {
    Group.keys.flatMap { key in
      (kinds.contains(key.kind) ? [key.name] : [])
        + (key.items?.kinds ?? []).filter { kinds.contains($0.kind) }.map { "\(key.name)[].\($0.name)" }
    }
  }

  private static func kept<Group: Settings>(_: Group.Type) -> [String] {
    Group.keys.flatMap { key in
      (key.isKept ? [key.name] : []) + (key.items?.kept ?? []).map { "\(key.name)[].\($0)" }
    }
  }
}

extension Sees {
  /// The names of shown fields that are declared to be kept, which only the loop's state can be.
  fileprivate static var keptSeen: [String] { seenFields.filter(\.isKept).map(\.shape.name) }
}
