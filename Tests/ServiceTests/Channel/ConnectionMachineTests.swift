import NIOCore
import Testing

@testable import Service

@Suite("One connection's rules")
struct ConnectionMachineTests {
  private func at(_ milliseconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .milliseconds(milliseconds) }

  /// A request whose head has come at 1 s and is with the responder, its body not whole.
  private func machineWithinBody() -> ConnectionMachine {
    var machine = ConnectionMachine(ConnectionLimits(), at: at(0))
    machine.bytesArrived(at: at(1_000))
    machine.headArrived(keepsAlive: true, at: at(1_000))
    machine.handedOver(isHead: false)
    return machine
  }

  @Test("a body that comes byte by byte: too slow 60 s after its head, however lately a byte came")
  func slowBody() {
    var machine = machineWithinBody()
    for second in 1...60 {
      machine.bytesArrived(at: at(Int64(second) * 1_000))
      #expect(!machine.isTooSlow(at: at(Int64(second) * 1_000)))
    }
    #expect(machine.check(at: at(61_000), isWritable: true, isKnown: true) == .bodyTooSlow)
    #expect(machine.refuse(.conflict("X", "x")) == .now)
  }

  @Test("a whole body: its answer may take as long as it takes, unless the client does not take what it is sent")
  func slowAnswer() {
    var machine = machineWithinBody()
    machine.endArrived()
    #expect(!machine.isTooSlow(at: at(600_000)))
    #expect(machine.check(at: at(600_000), isWritable: false, isKnown: true) == .close)
  }
}

extension ConnectionMachine {
  /// Of a client that takes what it is sent.
  fileprivate func isTooSlow(at now: NIODeadline) -> Bool {
    if case .wait = check(at: now, isWritable: true, isKnown: true) { false } else { true }
  }
}
