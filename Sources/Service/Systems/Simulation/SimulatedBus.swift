import Buses

/// One bus of the simulated world: what it is called and what can be done to it. Any thread.
public struct SimulatedBus: Sendable {
  public enum Line: Sendable {
    case i2c(SimulatedI2CBus)
    case serial(SimulatedSerialPort)
    case datagram(ImpairedDatagrams)
    case link(SimulatedMessageLink)
  }

  /// `i2c-1`, `ttyAMA0`, `robot-udp`, `leg-bluetooth`.
  public let name: String
  let line: Line

  public init(_ name: String, _ line: Line) {
    (self.name, self.line) = (name, line)
  }

  var kind: String {
    switch line {
    case .i2c: "i2c"
    case .serial: "serial"
    case .datagram: "datagram"
    case .link: "link"
    }
  }

  var transactionCount: Int64 {
    switch line {
    case .i2c(let bus): bus.transactionCount
    case .serial(let line): line.transactionCount
    case .datagram(let port): port.transactionCount
    case .link(let link): link.transactionCount
    }
  }

  func transactions(since sequence: Int64) -> [BusTransaction] {
    switch line {
    case .i2c(let bus): bus.transactions(since: sequence).map { BusTransaction($0) }
    case .serial(let line): line.transactions(since: sequence).map { BusTransaction($0) }
    case .datagram(let port): port.transactions(since: sequence).map { BusTransaction($0) }
    case .link(let link): link.transactions(since: sequence).map { BusTransaction($0) }
    }
  }

  func clearFaults() {
    switch line {
    case .i2c(let bus): bus.clearFaults()
    case .serial(let line): line.clearFaults()
    case .datagram(let port):
      port.conditions = .init()
      port.linkIsDown = false
    case .link(let link): link.isOutOfReach = false
    }
  }
}
