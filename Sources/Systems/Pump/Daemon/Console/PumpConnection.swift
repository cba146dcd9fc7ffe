import Buses
import Pump
import Tactus
import TactusDaemon
import Wire

/// The operator's end of a line to a pump, running: its loop on a thread of its own, its mailboxes and a bell.
final class PumpConnection {
  let line: PumpLine
  private let runtime: Runtime
  private let requestBell: Doorbell
  private let client: PumpOperatorLoop.Channel.Client
  private var number: UInt64 = 0

  /// Nothing is sent before `start`. `bell` is rung ten times a second.
  init(_ line: PumpLine, bell: DoorbellButton) throws {
    let channel = PumpOperatorLoop.channel()
    let requestBell = try Doorbell()
    runtime = try Runtime {
      Lane("pump") {
        Loop(
          "pump", every: PumpOperatorLoop.rate, inputs: [line.input, requestBell.loopInput],
          minimumInterval: .milliseconds(5)
        ) {
          PumpOperatorLoop(
            RulesBox(.standard).input(), link: line.link(),
            channel: channel.loopEnds(requestBell: requestBell.input), turnsOffAtEnd: false)
        }
      }
      Lane("refresh") { Loop("refresh", every: .hertz(10)) { BellLoop(bell: bell) } }
    }
    self.line = line
    self.requestBell = requestBell
    client = channel.client()
  }

  func start() throws(RuntimeError) {
    try runtime.start()
    line.start()
  }

  /// Ends the loop and the connection.
  ///
  /// - Parameter turnsOff: the pump has been turned off by then, waited for 2 s at most; else it stays what it is.
  func stop(turnsOff: Bool) {
    runtime.stop()
    let last = newest()
    if turnsOff, last.connections > 0, last.state != .shutDown(.confirmed) {
      _ = try? PumpFarewell(line: line, isUp: last.contact.isUp).say()
    }
    line.stop()
  }

  func ask(_ order: PumpRequest.Order) {
    number += 1
    guard client.send(PumpRequest(number: number, issued: MonotonicClock.now, order)) else { return }
    requestBell.button.ring()
  }

  /// Why the loop has ignored a request since the last call, or `nil` if it has not.
  func takeRefusal() -> PumpIgnoreReason? {
    var refusal: PumpIgnoreReason?
    while let answer = client.nextAnswer() {
      if case .ignored(let reason) = answer.verdict { refusal = reason }
    }
    return refusal
  }

  func newest() -> PumpSnapshot { client.newest() }

  /// What happened since the last call, a line each.
  func takeNews() -> [String] {
    var lines: [String] = []
    while let notice = client.nextNotice() {
      switch notice.subject {
      case .state(let state, let source):
        lines.append("pump: \(state)" + (source == .manual ? ", by its button" : ""))
      case .contact(let contact): lines.append("line: \(contact)")
      case .failed(let failure): lines.append("\(failure)")
      }
    }
    return lines
  }
}
