import Tactus
import TactusGuard

extension FuzzedDecoder {
  static let guards = [
    FuzzedDecoder(name: "safe-state-write", longest: 200) { bytes in
      guard let write = SafeStateWrite(String(decoding: bytes, as: UTF8.self), custom: ["radio"]) else { return }
      expect(write.flaw == nil, "\(write)")
      let again = SafeStateWrite(write.description, custom: ["radio"])
      expect(again == write, "\(write) became \(String(describing: again))")
    },
    FuzzedDecoder(name: "guard-arguments", longest: 300) { bytes in
      let words = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
      }
      guard let arguments = GuardArguments(words) else { return }
      expect(arguments.descriptor >= 0 && arguments.window.shortest < arguments.window.longest, "\(arguments)")
    },
    FuzzedDecoder(name: "guard-messages", longest: 512) { bytes in steps(Bytes(bytes)) },
  ]

  /// Messages as they may come, in any order, with any contents, and between them time and the ends of writes.
  private static func steps(_ input: Bytes) {
    var input = input
    var now = TickInstant(nanoseconds: 1_000_000_000)
    var machine = GuardMachine(window: HeartbeatWindow(shortest: .milliseconds(50), longest: .seconds(1)), at: now)
    var number: UInt64 = 0
    var action = machine.step(.nothing, at: now)
    while !input.isEmpty {
      let kind = input.next()
      now = now + .milliseconds(Int64(kind >> 4) * 40)
      switch action {
      case .finish(let status):
        expect(status == 0 || status == 1, "\(status)")
        expect(machine.step(.closed, at: now) == .finish(status: 0), "it goes on after its end")
        return
      case .write: action = machine.step(kind & 8 == 0 ? .confirmed : .failed, at: now)
      case .wait: action = machine.step(event(kind & 7, &number, &input, now), at: now)
      }
    }
    closes(&machine, action, at: now)
  }

  private static func event(
    _ kind: UInt8, _ number: inout UInt64, _ input: inout Bytes, _ now: TickInstant
  ) -> GuardMachine.Event {
    switch kind {
    case 0: return .malformed
    case 1: return .asked
    case 2: return .dismissed
    case 3: return .closed
    case 4: return .nothing
    case 5:
      return .heartbeat(
        Heartbeat(
          number: input.word(), due: TickInstant(nanoseconds: Int64(bitPattern: input.word())),
          sent: TickInstant(nanoseconds: Int64(bitPattern: input.word())), watched: input.word(),
          advanced: input.word()))
    default:
      number += 1
      return .heartbeat(
        Heartbeat(number: number, due: now, sent: now, watched: UInt64(input.next()), advanced: UInt64(input.next())))
    }
  }

  /// Whatever came before, a program that dies has the safe state written.
  private static func closes(_ machine: inout GuardMachine, _ action: GuardMachine.Action, at now: TickInstant) {
    var action = action
    var now = now
    if case .write = action { action = machine.step(.confirmed, at: now) }
    if case .finish = action { return }
    if case .retrying(.death, _, let at) = machine.state {
      now = max(now, at)
      action = machine.step(.nothing, at: now)
    } else {
      action = machine.step(.closed, at: now)
    }
    expect(action == .write, "a death in \(machine.state) has \(action)")
    expect(machine.step(.confirmed, at: now) == .finish(status: 0), "a death that is written ends the guard")
  }
}
