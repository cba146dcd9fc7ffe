import DaemonSupport
import Foundation
import Testing

/// Nothing is compiled here: the page's blocks are compared with files that the build compiles, and its words with the declarations in Sources.
@Suite("docs/decisions/one-way-to-declare.md: what it says of a declaration is there")
struct DecisionPageTests {
  private static let page = DecisionPage.read()
  private static let blocks = PageExcerpts.blocks(of: DecisionPage.text)
  private static let sources = DeclaredNames.read()
  private static let declarations = UsedWords.read()
  /// Words that no declaration spells: those of the page's history, and types of which declarations have the values.
  private static let unspelled: Set = [
    "SystemKind", "AnyConfiguredSystem", "DaemonSystem", "CommandScope", "FieldEntity", "FieldKind", "FieldTelling",
    "PlainForm", "SafeBytes", "SafeExchange", "SafeOutput", "SafeTransfers", "SerialPart",
  ]

  @Test("each block is an excerpt of the file that its first line names, where // … stands for what is left out")
  func blocks() throws {
    #expect(Self.blocks.count > 10)
    for block in Self.blocks { try PageExcerpts.check(block) }
  }

  @Test("each word is declared for systems of other packages, with the parameters that stand there")
  func declared() {
    var count = 0
    for spans in Self.page.built {
      let words = Set(spans.flatMap { DeclaredNames.words(in: $0) })
      count += words.count
      for word in words.sorted() {
        #expect(Self.sources.has(word, beside: words), "nothing is called \(word), among \(words.sorted())")
      }
    }
    #expect(count > 200)
  }

  @Test("each word stands in a declaration that is compiled: ours, an example's or a test's")
  func used() {
    let words = Self.page.words.subtracting(Self.unspelled)
    for word in words.sorted() { #expect(Self.declarations.has(word), "no declaration has \(word)") }
  }

  @Test("what is said to be missing is missing")
  func missing() {
    #expect(Self.page.missing.count > 5)
    for span in Self.page.missing {
      // Of a parameter, its method may be there; of a member, its type.
      let words = DeclaredNames.words(in: span).filter { $0.contains(".") || $0.hasSuffix(":)") }
      let parameters = words.filter { $0.hasSuffix(":)") }
      #expect(!words.isEmpty, "`\(span)` is neither a member nor a parameter")
      for word in parameters.isEmpty ? words : parameters {
        #expect(!Self.sources.names.contains(word), "\(word) is there, and the page says that it is not")
      }
    }
  }

  @Test("each protocol that a system or its desk may adopt stands on the page")
  func complete() {
    let words = Self.page.words
    #expect(Self.sources.adoptable.count > 30)
    for name in Self.sources.adoptable.sorted() { #expect(words.contains(name), "the page has no \(name)") }
  }

  @Test("each member of a protocol of a declaration stands on the page, with the protocol's name or beside it")
  func requirements() {
    let paragraphs = Self.page.built.map { spans in Set(spans.flatMap { DeclaredNames.words(in: $0) }) }
    let protocols = Self.sources.declared.compactMap { name in Self.sources.requirements[name].map { (name, $0) } }
    #expect(protocols.count > 40)
    for (name, members) in protocols.sorted(by: { $0.0 < $1.0 }) {
      for member in members.sorted() {
        let isNamed = paragraphs.contains { words in
          words.contains("\(name).\(member)") || words.contains(name) && words.contains(".\(member)")
        }
        #expect(isNamed, "the page has no \(name).\(member)")
      }
    }
  }

  @Test("each public type of a declaration stands on the page, by its name or by a member")
  func types() {
    let words = Self.page.words
    let owners = Set(words.map { $0.prefix { $0.isLetter || $0.isNumber } })
    #expect(Self.sources.declared.count > 100)
    for name in Self.sources.declared.sorted() {
      #expect(owners.contains(name[...]), "the page has no \(name)")
    }
  }

  @Test(
    "each member of what is handed to a declaration stands on the page",
    arguments: ["Bench", "DeskMaterial", "DeskLine", "SystemMailbox"])
  func members(of type: String) {
    let words = Self.page.words
    // A type without a name behind it is what a `case` of a function leaves.
    let members = Self.sources.names.filter { $0.hasPrefix("\(type).") && !$0.contains("(") && !$0.hasSuffix(".") }
    #expect(members.count > 3)
    for name in members.sorted() { #expect(words.contains(name), "the page has no \(name)") }
  }

  @Test(
    "the words of a span: types, members, parameters; paths and JSON are none",
    arguments: [
      ("ItemCommand(on:each:)", ["ItemCommand", "ItemCommand(each:)", "ItemCommand(on:)"]),
      ("bench.outputs(each:)", ["Bench.outputs", "Bench.outputs(each:)"]), (".kept", [".kept"]),
      ("SystemRoute.own", ["SystemRoute", "SystemRoute.own"]), ("limit:", ["(limit:)"]),
      ("receive(_ frame:, from:, _ door:)", [".receive", ".receive(from:)"]), ("GET /api/status", []),
      ("backend: sim", []), ("kettles", []),
    ] as [(String, [String])])
  func spans(_ span: String, _ words: [String]) { #expect(DeclaredNames.words(in: span).sorted() == words) }
}

/// The page in parts.
private struct DecisionPage: Sendable {
  /// What stands in backticks, by paragraphs, items and rows, except in blocks and in the first column of the list of what is not built.
  var built: [[String]] = [[]]
  /// What stands in backticks in that column.
  var missing: [String] = []

  var words: Set<String> { Set(built.joined().flatMap { DeclaredNames.words(in: $0) }) }

  static let text = contents(of: repository.appending(path: "docs/decisions/one-way-to-declare.md"))

  static func read() -> DecisionPage {
    var page = DecisionPage()
    var isInBlock = false
    var isMissing = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isInBlock.toggle()
      } else if !isInBlock {
        isMissing = isMissing || line.hasPrefix("## Not built")
        let isFirst = line.first.map { "-|#".contains($0) || $0.isNumber } ?? true
        if isFirst { page.built.append([]) }
        let columns = line.split(separator: "|", maxSplits: 1)
        if isMissing, line.hasPrefix("|"), columns.count == 2 { page.missing += spans(in: columns[0]) }
        page.built[page.built.count - 1] += spans(in: isMissing ? columns.last ?? "" : line)
      }
    }
    return page
  }

  private static func spans(in line: Substring) -> [String] {
    line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
      .map { String($0.element) }
  }
}

/// What Sources declare: types by their names, members as `Type.member`, parameters as `Type.member(label:)`, those of initialisers as `Type(label:)`, and
/// any parameter of a type's as `Type…(label:)`. Members are those that another package sees, and not those of the six systems; the members of a type within
/// another one are the other one's, too.
private struct DeclaredNames: Sendable {
  private(set) var names: Set<String> = []
  /// The protocols that a system or its desk may adopt.
  private(set) var adoptable: Set<String> = ["DeviceSystem", "SystemDesk"]
  /// The public types and protocols of the files of declarations, except those within others.
  private(set) var declared: Set<String> = []
  /// What protocols require, by their names.
  private(set) var requirements: [String: Set<String>] = [:]

  static func read() -> DeclaredNames {
    var found = DeclaredNames()
    for file in swiftFiles(in: "Sources") {
      found.read(contents(of: file), isOfSystem: file.path.contains("/Sources/Systems/"))
    }
    var supers: [String: [Substring]] = [:]
    for file in swiftFiles(in: "Sources/TactusDaemon/Declared") {
      for line in contents(of: file).split(separator: "\n") where line.hasPrefix("public ") {
        let words = line.split { !$0.isLetter && !$0.isNumber }.dropFirst().drop { $0 == "final" }
        guard let kind = words.first, kind != "extension", Self.kinds.contains(kind),
          let name = words.dropFirst().first
        else { continue }
        found.declared.insert(String(name))
        if kind == "protocol" { supers[String(name), default: []] += words.dropFirst(2) }
      }
    }
    // A protocol that refines one of these is one of them.
    for _ in 0..<4 {
      for (name, refined) in supers where refined.contains(where: { found.adoptable.contains(String($0)) }) {
        found.adoptable.insert(name)
      }
    }
    return found
  }

  private static let kinds: Set<Substring> = [
    "struct", "class", "enum", "protocol", "actor", "extension", "typealias", "associatedtype",
  ]
  private static let members: Set<Substring> = ["func", "var", "let", "case"]
  private static let modifiers: Set<Substring> = [
    "public", "package", "private", "fileprivate", "static", "final", "mutating", "consuming", "indirect", "unowned",
    "weak", "lazy", "nonisolated", "convenience", "private(set)", "internal(set)", "package(set)", "fileprivate(set)",
  ]

  private mutating func read(_ text: String, isOfSystem: Bool) {
    let lines = text.split(separator: "\n")
    // The type whose members are read, and whether all that it has is as public as it is.
    var (owner, isProtocol) = ("", false)
    for (index, line) in lines.enumerated() {
      let indentation = line.prefix { $0 == " " }.count
      var rest = line.dropFirst(indentation)
      guard let first = rest.first, first.isLowercase || first == "@" else { continue }
      var isPublic = false
      while let word = rest.split(separator: " ", maxSplits: 1).first,
        word.hasPrefix("@") || Self.modifiers.contains(word)
      {
        isPublic = isPublic || word == "public"
        rest = rest.dropFirst(word.count).drop { $0 == " " }
      }
      let kind = rest.prefix { $0.isLetter }
      let after = rest.dropFirst(kind.count).drop { $0 == " " }
      let name = String(after.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
      if Self.kinds.contains(kind) {
        if kind != "extension" { names.insert(name) }
        if indentation == 0 { (owner, isProtocol) = (name, kind == "protocol") }
      }
      guard !isOfSystem, isPublic || isProtocol || kind == "case" else { continue }
      let isMember = Self.members.contains(kind)
      guard isMember || kind == "init" else { continue }
      if isProtocol, isMember { requirements[owner, default: []].insert(name) }
      let member = isMember ? "\(owner).\(name)" : owner
      names.insert(member)
      guard kind != "var", kind != "let" else { continue }
      for label in Self.labels(isMember ? after.dropFirst(name.count) : after, lines[index...]) {
        names.formUnion(["\(member)(\(label):)", "\(owner)…(\(label):)"])
      }
    }
  }

  /// Returns whether a word of the page is declared. A member or a parameter without a type is of one of those that stand beside it.
  func has(_ word: String, beside words: Set<String>) -> Bool {
    guard word.hasPrefix(".") || word.hasPrefix("(") else { return names.contains(word) }
    let types = Set(words.filter { $0.first?.isUppercase == true }.map { $0.prefix { $0.isLetter || $0.isNumber } })
    return types.contains { names.contains(word.hasPrefix(".") ? "\($0)\(word)" : "\($0)…\(word)") }
  }

  /// The labels of the parameters that begin in the rest of a line, and of those of their closures.
  private static func labels(_ rest: Substring, _ lines: ArraySlice<Substring>) -> [Substring] {
    guard let start = rest.firstIndex(of: "(") else { return [] }
    let text = ([rest[start...]] + lines.dropFirst().prefix(16)).joined(separator: " ")
    var depth = 0
    let end = text.firstIndex { character in
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      return depth == 0
    }
    return text[..<(end ?? text.endIndex)].matches(of: #/[(,]\s*(\w+)(?:\s+\w+)?\s*:/#).map { $0.output.1 }
  }

  /// By which names declarations know what is handed to them.
  static let receivers = [
    "bench": "Bench", "made": "DeskMaterial", "line": "DeskLine", "mailbox": "SystemMailbox", "ends": "LoopEnds",
    "look": "Look",
  ]

  /// The names that stand in a span of the page, in the form of `names`, without their type where it has none (`.kept`, `(limit:)`); none in a path or in
  /// JSON.
  static func words(in span: String) -> [String] {
    guard !span.contains("/"), !span.contains("{\"") else { return [] }
    var found: Set<String> = []
    func add(_ name: String, _ parameters: Substring?) {
      found.insert(name)
      found.formUnion(given(parameters).map { "\(name)(\($0):)" })
    }
    for match in span.matches(of: #/(?:^|[^.\w])([A-Za-z]\w*)\.([a-z]\w*)(?:\(([^)]*))?/#) {
      let receiver = String(match.output.1)
      let isType = receiver.first?.isUppercase == true
      if let type = isType ? receiver : receivers[receiver] { add("\(type).\(match.output.2)", match.output.3) }
    }
    for match in span.matches(of: #/(?:^|[^.\w])([A-Z]\w*)\(([^)]*)/#) {
      found.formUnion(given(match.output.2).map { "\(match.output.1)(\($0):)" })
    }
    for match in span.matches(of: #/(?:^|[^.\w])([A-Z]\w*)/#) where match.output.1.contains(where: \.isLowercase) {
      found.insert(String(match.output.1))
    }
    for match in span.matches(of: #/(?:^|[ (,])\.([a-z]\w*)(?:\(([^)]*))?/#) {
      add(".\(match.output.1)", match.output.2)
    }
    if let match = span.prefixMatch(of: #/([a-z]\w*)\(([^)]*)/#) {
      let isReport = match.output.1 == "report"
      add(isReport ? "Contradictions.callAsFunction" : ".\(match.output.1)", match.output.2)
    }
    if let match = span.wholeMatch(of: #/(\w+):/#) { found.insert("(\(match.output.1):)") }
    if let match = span.wholeMatch(of: #/[a-z]+[A-Z]\w*/#) { found.insert(".\(match.output)") }
    return Array(found)
  }

  /// The labels of parameters as the page has them: `mask:values:`, or `_ frame:, from:`.
  private static func given(_ parameters: Substring?) -> [Substring] {
    guard let parameters else { return [] }
    if !parameters.contains(" ") { return parameters.matches(of: #/(\w+):/#).map { $0.output.1 } }
    return parameters.split(separator: ",").compactMap { part in
      part.drop { $0 == " " }.prefixMatch(of: #/(\w+):/#)?.output.1
    }
  }
}

/// What declarations are written with, and the tests of them: identifiers, `label:`, `receiver.member`.
private struct UsedWords: Sendable {
  private var words: Set<String> = []

  static func read() -> UsedWords {
    var found = UsedWords()
    for folder in ["Sources/Systems", "Tests/DaemonTests/Declared", "Tests/DeclaredProbe", "Examples"] {
      for file in swiftFiles(in: folder) where file.lastPathComponent != "DecisionPageTests.swift" {
        for line in PageExcerpts.lines(of: contents(of: file)[...]) where !line.hasPrefix("//") { found.read(line) }
      }
    }
    return found
  }

  private mutating func read(_ line: Substring) {
    var (word, owner) = ("", "")
    for character in "\(line)\n".unicodeScalars {
      if character == "_" || character.properties.isAlphabetic || character.properties.numericType != nil {
        word.unicodeScalars.append(character)
        continue
      }
      if !word.isEmpty {
        words.insert(word)
        if character == ":" { words.insert("\(word):") }
        if !owner.isEmpty { words.insert("\(owner).\(word)") }
      }
      owner = character == "." ? word : ""
      word = ""
    }
  }

  /// Returns whether a word of the page is used.
  func has(_ word: String) -> Bool {
    guard let match = word.wholeMatch(of: #/(\w*)(?:\.(\w+))?(?:\((\w+):\))?/#) else { return false }
    let (owner, member) = (String(match.output.1), match.output.2.map { String($0) })
    if let label = match.output.3, !words.contains("\(label):") { return false }
    // A type that only its values are known of is used with them, as `bench.pwm`.
    if let receiver = DeclaredNames.receivers.first(where: { $0.value == owner })?.key {
      return member.map { words.contains("\(receiver).\($0)") } ?? words.contains(receiver)
    }
    if owner == "Contradictions" { return words.contains(owner) }
    return (owner.isEmpty || words.contains(owner)) && (member.map { words.contains($0) } ?? true)
  }
}

private func swiftFiles(in folder: String) -> [URL] {
  let root = repository.appending(path: folder)
  let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
  return (files?.compactMap { $0 as? URL } ?? []).filter {
    $0.pathExtension == "swift" && !$0.path.contains("/.build/")
  }
}

/// The text of a file, empty if there is none: then the tests find nothing of it.
private func contents(of file: URL) -> String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }
