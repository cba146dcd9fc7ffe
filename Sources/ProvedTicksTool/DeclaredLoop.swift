/// A type that is declared as a control loop.
struct DeclaredLoop: Equatable {
  /// The name of the type, including the types in which it is nested: `Robot.Balance`.
  var name: String
  /// The line of the conformance, from 1.
  var line: Int
  /// The reason why a function in another file cannot name the type, or `nil` if it can.
  var obstacle: Obstacle?

  enum Obstacle: Equatable {
    case isPrivate, isLocal, isGeneric
  }

  /// The protocols of `Tactus` whose conforming types are loops.
  static let protocols: Set<String> = ["ControlLoop", "NoOutput"]

  /// Returns the loops that each file declares, in order. A type is also a loop if it conforms to a protocol of these
  /// files that refines one of `Tactus`.
  static func all(in texts: [String]) -> [[DeclaredLoop]] {
    let files = texts.map { SwiftWords($0).words }
    var protocols = Self.protocols
    while true {
      let readers = files.map { words in
        var reader = Reader(words: words, protocols: protocols)
        reader.run()
        return reader
      }
      let known = protocols.count
      for reader in readers { protocols.formUnion(reader.refinements) }
      if protocols.count == known { return readers.map(\.loops) }
    }
  }

  /// The declaration to which a pair of braces belongs.
  private enum Scope {
    case type(String, obstacle: Obstacle?)
    /// The braces of a function, a closure or a property.
    case code
  }

  private struct Reader {
    let words: [SwiftWords.Word]
    let protocols: Set<String>
    var loops: [DeclaredLoop] = []
    /// The names of protocols that refine one of `protocols`.
    var refinements: Set<String> = []
    private var scopes: [Scope] = []
    private var at = 0
    private var isPrivate = false

    init(words: [SwiftWords.Word], protocols: Set<String>) {
      self.words = words
      self.protocols = protocols
    }

    mutating func run() {
      while at < words.count {
        let word = words[at].text
        switch word {
        case "{": scopes.append(.code)
        case "}": _ = scopes.popLast()
        case "private", "fileprivate": isPrivate = true
        case "struct", "class", "enum", "actor", "extension", "protocol":
          if let name = name(after: at) {
            declaration(name)
            isPrivate = false
            continue
          }
        case "func", "var", "let", "init", "case", "typealias", "import", "subscript": isPrivate = false
        default: break
        }
        at += 1
      }
    }

    /// Returns the name that is declared at the index, or `nil` if the word does not begin a declaration, as in `class
    /// func` or `.class`.
    private func name(after index: Int) -> String? {
      guard index == 0 || ![".", "import"].contains(words[index - 1].text), index + 1 < words.count else { return nil }
      let name = words[index + 1].text
      guard let first = name.unicodeScalars.first, first.properties.isAlphabetic || first == "_" else { return nil }
      return ["func", "var", "let", "subscript", "init"].contains(name) ? nil : name
    }

    /// Reads a declaration from its keyword to its opening brace, which begins a new scope.
    private mutating func declaration(_ first: String) {
      let isExtension = words[at].text == "extension"
      let isProtocol = words[at].text == "protocol"
      var name = first
      at += 2
      while at + 1 < words.count, words[at].text == "." {
        name += "." + words[at + 1].text
        at += 2
      }
      var obstacle = outerObstacle
      if isPrivate, !isExtension { obstacle = obstacle ?? .isPrivate }
      if at < words.count, words[at].text == "<" { obstacle = obstacle ?? .isGeneric }
      let full = (outerNames + [name]).joined(separator: ".")
      var inherits = false
      // Nothing is inherited after `where`.
      var isOver = false
      while at < words.count, words[at].text != "{" {
        let word = words[at].text
        if word == "where" { isOver = true }
        if word == ":", depth(at) == 0 { inherits = !isOver }
        if inherits, !isOver, protocols.contains(word) { found(full, isProtocol: isProtocol, obstacle: obstacle) }
        at += 1
      }
      scopes.append(.type(name, obstacle: obstacle))
      at += 1
    }

    private mutating func found(_ name: String, isProtocol: Bool, obstacle: Obstacle?) {
      if isProtocol {
        refinements.insert(name)
      } else if !loops.contains(where: { $0.name == name }) {
        loops.append(DeclaredLoop(name: name, line: words[at].line, obstacle: obstacle))
      }
    }

    /// Returns the nesting depth of `index` in the angle brackets and parentheses of its declaration. A `:` with a
    /// depth above 0 belongs to a parameter.
    private func depth(_ index: Int) -> Int {
      var depth = 0
      var at = index - 1
      while at >= 0, !["{", "}", "struct", "class", "enum", "actor", "extension", "protocol"].contains(words[at].text) {
        switch words[at].text {
        case "<", "(", "[": depth += 1
        case ">", ")", "]": depth -= 1
        default: break
        }
        at -= 1
      }
      return depth
    }

    private var outerNames: [String] {
      scopes.compactMap { if case .type(let name, _) = $0 { name } else { nil } }
    }

    private var outerObstacle: Obstacle? {
      for scope in scopes {
        switch scope {
        case .code: return .isLocal
        case .type(_, let obstacle?): return obstacle
        case .type(_, nil): break
        }
      }
      return nil
    }
  }
}
