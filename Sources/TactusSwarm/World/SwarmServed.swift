@_spi(FromOutside) import Conversions
import Service
import Synchronization
import Tactus
import Wire

/// A part as a messaging link sees it: a route for each of its words, whose handler records the command. It may be used from any thread.
final class SwarmServed: ServedSystem {
  /// A command, as a handler received it or as a message contains it.
  struct Command: Sendable, Hashable {
    let word: String
    let numbers: [Int64]

    init(_ word: String, body: [UInt8]) {
      self.word = word
      guard case .object(let members)? = try? JSONParser.parse(body),
        case .list(let list)? = members.first(where: { $0.name == "numbers" })?.value
      else {
        numbers = []
        return
      }
      numbers = list.compactMap { if case .number(let digits) = $0 { Int64(digits) } else { nil } }
    }

    /// Reads the command in a complete message. Returns `nil` if the bytes are not a JSON object with a command.
    init?(message: [UInt8]) {
      guard case .object(let members)? = try? JSONParser.parse(message),
        case .text(let word)? = members.first(where: { $0.name == "command" })?.value
      else { return nil }
      self.init(word, body: message)
    }
  }

  private struct State {
    var asked: [Command] = []
    var isStopped = false
    var version: UInt64 = 0
  }

  let name: String
  private let words: [String]
  private let guarded = Mutex(State())

  init(_ name: String, words: [String]) { (self.name, self.words) = (name, words) }

  static func document(isStopped: Bool) -> String { "{\"state\":\"\(isStopped ? "emergencyStopped" : "ready")\"}" }

  func show(isStopped: Bool) {
    guarded.withLock { state in
      if state.isStopped != isStopped { (state.isStopped, state.version) = (isStopped, state.version + 1) }
    }
  }

  /// Returns the commands received since the last call, in their order.
  func takeAsked() -> [Command] {
    guarded.withLock { state in
      defer { state.asked = [] }
      return state.asked
    }
  }

  private func note(_ command: Command) { guarded.withLock { $0.asked.append(command) } }

  // MARK: ServedSystem

  var routes: [Route] {
    words.map { word in
      Route(.post, "/api/\(name)/\(word)", scope: .control, action: "\(name).\(word)") { [self] request in
        note(Command(word, body: request.body))
        return APIResponse(contentType: "application/json", body: Array("{\"ok\":true}".utf8))
      }
    }
  }

  var version: UInt64 { guarded.withLock { $0.version } }
  var state: [UInt8] { Array(Self.document(isStopped: isEmergencyStopped).utf8) }
  var movingMembers: Set<String> { [] }
  var isEmergencyStopped: Bool { guarded.withLock { $0.isStopped } }
  func events(at now: TickInstant, second: Bool) -> [Event] { [] }
  func emergencyStop(_ caller: Caller) async { note(Command("e-stop", body: [])) }
  func holdEmergencyStop() {}
  func reset(_ caller: Caller) async { note(Command("reset", body: [])) }
  func receive(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool { false }
  func clientLeft(_ caller: Caller) {}
}
