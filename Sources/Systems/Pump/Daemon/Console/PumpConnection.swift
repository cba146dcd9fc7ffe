import Buses
import Pump
import Tactus
import TactusDaemon
import Wire

/// A running operator's connection to a pump: a loop on a separate thread, with its mailboxes and a bell.
final class PumpConnection {
  let line: PumpLine
  private let runtime: Runtime
  private let mailbox: PumpMailbox
  private let client: PumpMailbox.Client
  private var number: UInt64 = 0

  /// Creates the connection; nothing is sent before `start`. `bell` is rung ten times a second.
  init(_ line: PumpLine, bell: DoorbellButton) throws {
    let mailbox = try PumpMailbox(operating: .standard)
    runtime = try Runtime {
      Lane("pump") {
        Loop(
          "pump", every: PumpOperatorLoop.rate, inputs: [line.input, mailbox.loopInput],
          minimumInterval: .milliseconds(5)
        ) {
          PumpOperatorLoop(mailbox.loopEnds(), link: line.link(), turnsOffAtEnd: false)
        }
      }
      Lane("refresh") { Loop("refresh", every: .hertz(10)) { BellLoop(bell: bell) } }
    }
    self.line = line
    self.mailbox = mailbox
    client = mailbox.client()
  }

  func start() throws(RuntimeError) {
    try runtime.start()
    line.start()
  }

  /// Ends the loop and the connection.
  ///
  /// - Parameter turnsOff: whether the pump is turned off first, with a timeout of 2 s; otherwise it stays in its present state.
  func stop(turnsOff: Bool) {
    runtime.stop()
    let last = newest()
    if turnsOff, last.connections > 0, last.state != .shutDown(.confirmed) {
      _ = try? PumpFarewell(line: line, isUp: last.contact.isUp).say()
    }
    line.stop()
  }

  func ask(_ order: PumpOrder) {
    number += 1
    let now = MonotonicClock.now
    guard client.send(Request(number: number, issued: now, makesSafe: order.makesSafe, order: order)) else { return }
    mailbox.requestButton.ring()
  }

  /// Returns the reason why the loop has refused a request since the last call, or `nil` if it has refused none.
  func takeRefusal() -> PumpIgnoreReason? {
    var refusal: PumpIgnoreReason?
    while let answer = client.nextAnswer() {
      if case .refused(let reason) = answer.verdict { refusal = reason }
    }
    return refusal
  }

  func newest() -> PumpSnapshot { client.newest().state.operated ?? PumpSnapshot() }

  /// Returns a line of text for each change since the last call.
  func takeNews() -> [String] {
    var lines: [String] = []
    while let told = client.nextNotice() {
      switch told.notice {
      case .state(let state, let source):
        lines.append("pump: \(state)" + (source == .manual ? ", by its button" : ""))
      case .contact(let contact): lines.append("line: \(contact)")
      case .failed(let failure): lines.append("\(failure)")
      case .own, .outputFails: break
      }
    }
    return lines
  }
}
