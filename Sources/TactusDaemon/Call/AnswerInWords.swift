@_spi(FromOutside) import Conversions
import Service
import Tactus
import Wire

/// Puts a daemon's answer into a few words for people, by the same rules for all answers:
///
/// - A document with a state is shown as its name, the state, the reason and the way out:
///   `front: armed, nothing set yet`. A document with `isOn` is shown as on or off, with the time left.
/// - The answer to a command is only that sentence. Without a state it is `done`, followed by the plain values of the
///   answer.
/// - The answer to a query is that sentence, then the plain values, one a line, then the lists, one item a line. Longer
///   parts are left out; `--json` prints them.
struct AnswerInWords {
  /// The names of the members that are useful to programs alone.
  private static let forPrograms: Set = ["ok", "verdict", "monotonicNs"]
  /// The names of the members that the sentence of a document contains already.
  private static let inSentence: Set = [
    "name", "state", "reason", "wayOut", "isOn", "fault", "remainingSec", "id", "index",
  ]
  /// The greatest number of items of a list, of plain values of an item, and of plain values of a part of the answer.
  private static let (mostThings, mostValues, mostParts) = (30, 6, 4)

  private let document: JSONValue
  /// The name of the document if it has no name of its own: the system's.
  private let name: String

  /// Returns the lines for a terminal, in which control characters of what the daemon says are escaped.
  ///
  /// - Parameters:
  ///   - document: the answer.
  ///   - command: the command as the user wrote it.
  ///   - group: the system of the command, or `nil` if it is unknown.
  ///   - isLook: whether the request was a query and not a command.
  static func text(_ document: JSONValue, to command: String, of group: String?, isLook: Bool) -> String {
    let told = AnswerInWords(document: document, name: group ?? command)
    let lines = isLook ? told.look : [told.done(command)]
    return TopScreen.text(lines.map { TopScreen.Line(text: $0) })
  }

  private func done(_ command: String) -> String {
    let parts = document.members.filter { !Self.forPrograms.contains($0.name) }
    for part in parts {
      if let sentence = Self.sentence(part.value, called: part.name) { return sentence }
    }
    if let sentence = Self.sentence(document, called: name) { return sentence }
    let values = parts.compactMap { Self.value($0) }
    return "\(command): done" + (values.isEmpty ? "" : ", " + values.map(\.inLine).joined(separator: ", "))
  }

  private var look: [String] {
    var lines = [Self.sentence(document, called: name)].compactMap(\.self)
    var (values, lists, isWhole) = ([Value](), [String](), true)
    for member in document.members where !Self.forPrograms.contains(member.name) {
      if !lines.isEmpty, Self.inSentence.contains(member.name) { continue }
      if let value = Self.value(member) {
        values.append(value)
      } else if member.value.items.contains(where: { !$0.members.isEmpty }) {
        lists.append("\(Self.readableName(of: member.name)):")
        lists += member.value.items.prefix(Self.mostThings).map { "  " + Self.line(of: $0) }
        if member.value.items.count > Self.mostThings { lists.append("  …") }
      } else if !member.value.members.isEmpty {
        let parts = member.value.members.compactMap { Self.value($0) }
        let isShort = parts.count <= Self.mostParts && member.value.members.allSatisfy { $0.value.members.isEmpty }
        if isShort, !parts.isEmpty {
          let text = parts.map(\.inLine).joined(separator: ", ")
          values.append(Value(name: Self.readableName(of: member.name), text: text))
        } else if !isShort {
          isWhole = false
        }
      }
    }
    let width = values.map(\.name.count).max() ?? 0
    lines += values.map { TerminalText.left($0.name, width + 2) + $0.text }
    lines += lists
    if lines.isEmpty { lines.append("nothing") }
    return isWhole ? lines : lines + ["(--json prints all of it)"]
  }

  /// Returns the line of an item in a list: `2 Roses is on, 5 min left`.
  private static func line(of thing: JSONValue) -> String {
    let number = (thing["id"] ?? thing["index"]).flatMap { $0.string ?? $0.wholeNumber.map(String.init) }
    if let sentence = sentence(thing, called: number ?? "") {
      return thing["name"]?.string == nil || number == nil ? sentence : "\(number ?? "") \(sentence)"
    }
    let values = thing.members.filter { !inSentence.contains($0.name) }.compactMap { value($0)?.inLine }
    let head = [number, thing["name"]?.string].compactMap(\.self).joined(separator: " ")
    return ([head].filter { !$0.isEmpty } + values.prefix(mostValues)).joined(separator: ", ")
  }

  /// Returns the sentence of a document that has a state or can be on, or `nil` if it has neither.
  ///
  /// - Parameter name: the name to show if the document has none.
  private static func sentence(_ thing: JSONValue, called name: String) -> String? {
    let name = thing["name"]?.string ?? name
    let (state, reason) = (thing["state"]?.string, thing["reason"]?.string)
    let isOn: Bool? = if case .boolean(let isOn)? = thing["isOn"] { isOn } else { nil }
    var sentence: String
    switch (state, reason, isOn) {
    case (let state?, let reason?, _) where reason.hasPrefix(state): sentence = "\(name): \(reason)"
    case (let state?, let reason?, _): sentence = "\(name): \(state), \(reason)"
    case (let state?, nil, _): sentence = "\(name): \(state)"
    case (nil, _, let isOn?): sentence = "\(name) is \(isOn ? "on" : "off")"
    default: return nil
    }
    if let fault = thing["fault"]?.string, !sentence.contains(fault) { sentence += ", fault: \(fault)" }
    if case .number(let digits)? = thing["remainingSec"], let seconds = Double(digits), seconds > 0 {
      sentence += ", \(span(seconds)) left"
    }
    if let wayOut = thing["wayOut"]?.string { sentence += "; \(wayOut)" }
    return sentence
  }

  // MARK: plain values

  private struct Value {
    let name: String
    let text: String

    var inLine: String { "\(name) \(text)" }
  }

  /// The endings of member names that state a unit, each with the unit's sign.
  private static let units = [
    ("Percent", "%"), ("Celsius", "°C"), ("Minutes", "min"), ("Hours", "h"), ("Ms", "ms"), ("Us", "µs"), ("Mv", "mV"),
    ("Mm", "mm"), ("Degrees", "°"), ("Litres", "l"),
  ]

  /// Returns the words for a member that is a plain value or a list of plain values, or `nil` if it is neither, is
  /// null, or is useful to programs alone.
  private static func value(_ member: JSONValue.Member) -> Value? {
    let name = member.name
    switch member.value {
    case .null, .object: return nil
    case .boolean(let isSo): return Value(name: readableName(of: name), text: isSo ? "yes" : "no")
    case .text(let text): return Value(name: readableName(of: ending("ISO", of: name) ?? name), text: text)
    case .list(let items):
      guard items.allSatisfy({ $0.members.isEmpty && $0.items.isEmpty }) else { return nil }
      let texts = items.prefix(mostThings).map { $0.string ?? $0.compact }
      return Value(name: readableName(of: name), text: texts.isEmpty ? "none" : texts.joined(separator: ", "))
    case .number(let digits):
      guard ending("Ns", of: name) == nil else { return nil }
      if let stem = ending("Sec", of: name), let seconds = Double(digits) {
        return Value(name: readableName(of: stem), text: span(seconds))
      }
      let number = short(digits)
      for (suffix, sign) in units {
        if let stem = ending(suffix, of: name) { return Value(name: readableName(of: stem), text: "\(number) \(sign)") }
      }
      return Value(name: readableName(of: name), text: number)
    }
  }

  /// Returns a name without the given ending, or `nil` if it does not end in it or has nothing before it.
  private static func ending(_ suffix: String, of name: String) -> String? {
    name.hasSuffix(suffix) && name.count > suffix.count ? String(name.dropLast(suffix.count)) : nil
  }

  /// Returns a name in camel case as words: `stop confirmed`.
  private static func readableName(of name: String) -> String {
    name.reduce(into: "") { words, letter in
      let isStart = letter.isUppercase && words.last?.isUppercase == false && words.last != " "
      words += isStart ? " " + letter.lowercased() : String(letter)
    }
  }

  /// Returns a number of magnitude 1 or more with one decimal at most; other numbers stay as they are.
  private static func short(_ digits: String) -> String {
    guard digits.contains("."), let number = Double(digits), number.magnitude >= 1 else { return digits }
    return JSONValue.decimal((number * 10).rounded() / 10).compact
  }

  /// Returns a duration in words: `5 min`, `1 min 30 s`.
  private static func span(_ seconds: Double) -> String {
    let text = TopScreen.upTime(Int64(saturating: min(seconds, 1e9).rounded()) * 1_000_000_000)
    for nothing in [" 0 s", " 0 min", " 0 h"] where text.hasSuffix(nothing) {
      return String(text.dropLast(nothing.count))
    }
    return text
  }
}
